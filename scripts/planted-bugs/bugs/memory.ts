import type { PlantedBug } from "../planted-bug.ts";

const STORE = "packages/store-memory/src/store.ts";
const CONFORMANCE = "packages/store-memory/test/conformance.test.ts";

export const MEMORY: readonly PlantedBug[] = [
  {
    name: "memory-tenant-not-in-load",
    breaks: "Another tenant's submission can be loaded by its id.",
    file: STORE,
    edits: [
      {
        find: `if (stored === undefined || ("tenant" in by && stored.tenant !== by.tenant)) return loaded;`,
        replace: "if (stored === undefined) return loaded;",
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "memory-token-rotated-before-checks",
    breaks: "A refused change leaves the current token marked as rotated.",
    file: STORE,
    edits: [
      {
        find: "  const refused = refusal(tables, change, stored);",
        replace: `  const current = stored && change.token && tables.tokens.get(stored.currentToken);
  if (current) current.rotatedAt = at;
  const refused = refusal(tables, change, stored);`,
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "memory-record-kept-when-refused",
    breaks: "A change that is refused leaves its idempotency record, which is then replayed.",
    file: STORE,
    edits: [
      {
        find: "  if (refused !== undefined) return refused;",
        replace: "  if (refused !== undefined) {\n    writeRecord(tables, change, at);\n    return refused;\n  }",
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "memory-only-first-waiter-woken",
    breaks: "Of several readers of a submission only one is woken.",
    file: "packages/store-memory/src/wakeups.ts",
    edits: [
      {
        find: "[...(sleepers.get(submissionId) ?? [])]) sleeper.wake();",
        replace: "[...(sleepers.get(submissionId) ?? [])].slice(0, 1)) sleeper.wake();",
      },
    ],
    caughtBy: [CONFORMANCE],
  },
];
