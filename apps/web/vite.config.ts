import { fileURLToPath } from "node:url";
import { build, defineConfig, type Plugin, type UserConfig } from "vite";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * The script that other sites load, under a name that stays. It starts every file of the element at once, in place of one
 * after the other. `element.js` is the same for bundlers.
 */
const embedScript = (): Plugin => ({
  name: "embed-script",
  generateBundle(_options, bundle) {
    const entry = Object.values(bundle).find((file) => file.type === "chunk" && file.name === "embed");
    if (entry?.type !== "chunk") throw new Error("there is no chunk of the element");
    const files = [...entry.imports, entry.fileName];
    const source = files.map((name) => `import "./assets/${name}";\n`).join("");
    this.emitFile({ type: "asset", fileName: "embed.js", source });
    this.emitFile({ type: "asset", fileName: "element.js", source: `import "./${entry.fileName}";\n` });
  },
});

/** The form page's entry is small and imports the rest when it runs: the browser learns of the rest from the HTML. */
const preloadRest = (): Plugin => ({
  name: "preload-rest",
  transformIndexHtml: {
    order: "post",
    handler(_html, { bundle = {}, chunk }) {
      const files = new Set<string>();
      const add = (name: string): void => {
        const found = bundle[name];
        if (found?.type !== "chunk" || files.has(name)) return;
        files.add(name);
        for (const each of found.imports) add(each);
      };
      if (chunk?.name === "form") for (const name of chunk.dynamicImports) add(name);
      for (const name of chunk?.imports ?? []) files.delete(name);
      return [...files].map((name) => ({
        tag: "link",
        attrs: { rel: "modulepreload", crossorigin: true, href: `/assets/${name}` },
        injectTo: "head" as const,
      }));
    },
  },
});

/** Written against React's API and built with Preact, a twelfth of its size. */
const shared = {
  publicDir: false,
  resolve: {
    alias: {
      "react/jsx-runtime": "preact/jsx-runtime",
      "react-dom": "preact/compat",
      react: "preact/compat",
      // The form engine brings it along and we don't use it: references stay inside the schema.
      "fast-uri": at("./src/stubs/uri.ts"),
    },
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
} satisfies UserConfig;

/** Browsers that know `light-dark()`: rewritten for older ones, it would follow the system and not the page around us. */
const CSS_TARGET = ["chrome123", "firefox120", "safari17.5"];

/** The form for hosts of agents is one script that loads nothing: packages/mcp puts it into a document. */
const mcpApp = (): Plugin => ({
  name: "mcp-app",
  apply: "build",
  async closeBundle() {
    await build({
      ...shared,
      root: at("."),
      configFile: false,
      logLevel: "error",
      build: {
        outDir: at("./dist"),
        emptyOutDir: false,
        cssTarget: CSS_TARGET,
        modulePreload: false,
        rollupOptions: {
          input: { "mcp-app": at("./src/mcp-app/main.tsx") },
          output: { entryFileNames: "[name].js", codeSplitting: false },
        },
      },
    });
  },
});

export default defineConfig({
  ...shared,
  plugins: [embedScript(), preloadRest(), mcpApp()],
  root: at("./pages"),
  base: "/assets/",
  build: {
    outDir: at("./dist"),
    emptyOutDir: true,
    assetsDir: ".",
    assetsInlineLimit: 0,
    cssTarget: CSS_TARGET,
    // Pages list what they need in their HTML; an element must not ask the site around it for our files.
    modulePreload: {
      polyfill: false,
      resolveDependencies: (_url, files, { hostType }) => (hostType === "html" ? files : []),
    },
    rollupOptions: {
      input: {
        form: at("./pages/form.html"),
        review: at("./pages/review.html"),
        start: at("./pages/start.html"),
        embed: at("./src/embed/main.ts"),
      },
      output: {
        codeSplitting: {
          // Few files: each costs a request. What the form page runs first stays small.
          groups: [
            { name: "link", test: /preload-helper|src[\\/]form[\\/]link\.ts/ },
            { name: "base", test: /preact|packages[\\/]client|src[\\/]shared[\\/][\w-]+\.tsx?$/ },
          ],
        },
      },
    },
  },
});
