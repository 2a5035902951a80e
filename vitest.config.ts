import { defineConfig } from "vitest/config";

const shared = {
  globalSetup: ["test/support/services/global-setup.ts"],
  setupFiles: ["test/support/end-with-the-run.ts"],
  pool: "forks" as const,
  // A process for each file would spend a third of the run on loading the same modules. Tests share no state but what they ask for.
  isolate: false,
  testTimeout: 30_000,
  hookTimeout: 60_000,
  // A poll ends as soon as it holds; the limit only has to be beyond what a busy machine needs.
  expect: { poll: { timeout: 15_000 } },
};

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      {
        test: {
          ...shared,
          name: "embedded",
          // Its own loader of modules works on no current Node; the source is fine.
          server: { deps: { inline: ["oai-pmh"] } },
          include: [
            "packages/*/src/**/*.test.ts",
            "packages/*/test/**/*.test.ts",
            "apps/*/src/**/*.test.ts",
            "apps/*/test/**/*.test.ts",
            "test/**/*.test.ts",
          ],
        },
      },
      {
        // What is promised over HTTP holds on every store. Left out is what no store has a say in, or what brings its own.
        test: {
          ...shared,
          name: "postgres",
          include: ["test/contract/**/*.test.ts"],
          exclude: [
            "test/contract/{bad-input*,cors-and-headers,fields-schema,jwt*,logs,names,openapi,redis,tokens-at-rest,uploads-hostile,uploads-slow}.test.ts",
          ],
          env: { FORMBRIDGE_TEST_STORE: "postgres" },
        },
      },
    ],
  },
});
