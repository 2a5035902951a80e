import { TOKEN_SHAPE } from "./route.ts";

const BUILT_IN = [
  { path: "/healthz", method: "GET" },
  { path: "/readyz", method: "GET" },
  { path: "/openapi.json", method: "GET" },
  { path: "/docs", method: "GET" },
];

/** The methods of a path, to distinguish a wrong method (405) from a wrong path (404). */
export function createMethodFinder(routes: readonly { path: string; method: string }[]): (url: string) => string[] {
  const patterns = [...routes, ...BUILT_IN].map(({ path, method }) => ({
    method,
    pattern: new RegExp(`^${path.replace(":token", TOKEN_SHAPE).replace(/:[A-Za-z]+/g, "[^/]+")}$`),
  }));
  return (url) => {
    const [path = ""] = url.split("?");
    return [...new Set(patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))];
  };
}
