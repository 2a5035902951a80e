/** Re-derives from every source file who imports whom, and compares it with the tree that the README prints. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { STATUS } from "../packages/http/src/error-map.ts";

const ROOT = join(import.meta.dirname, "..");
const SCOPE = "@formbridge/";

interface SourceFile {
  path: string;
  text: string;
}

/** What each package may import of ours. `core/x` is a folder of core, determined by where core's index gets a name from. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  "packages/contract": [],
  "packages/client": ["contract"],
  "packages/form": ["contract", "contract/editable-states", "client"],
  "packages/core": ["contract"],
  "packages/conformance": ["contract", "core/ports", "core/domain"],
  "packages/store-memory": ["contract", "core/ports", "core/domain"],
  "packages/store-sql": ["contract", "core/ports", "core/domain"],
  "packages/store-sqlite": ["contract", "core/ports", "core/domain", "store-sql"],
  "packages/store-postgres": ["contract", "core/ports", "core/domain", "store-sql"],
  "packages/files": ["core/ports"],
  "packages/telemetry": ["core/ports"],
  "packages/auth-jwt": ["contract", "core/ports", "core/domain"],
  "packages/store-redis": ["contract", "core/ports", "core/domain"],
  "packages/outbound": ["contract", "core/ports"],
  "packages/http": ["contract", "core/operations", "core/domain"],
  "packages/mcp": ["contract", "core/operations", "core/domain"],
  "packages/oai": ["contract", "core/operations", "core/domain"],
  "packages/worker": ["contract", "core/operations", "core/ports", "core/domain"],
  "apps/web": [
    "contract",
    "contract/editable-states",
    "contract/translation-for",
    "client",
    "form",
    "form/form.css",
    "form/form.css?inline",
    "form/texts",
  ],
  "apps/server": [
    "auth-jwt",
    "contract",
    "core",
    "files",
    "http",
    "mcp",
    "oai",
    "outbound",
    "store-memory",
    "store-postgres",
    "store-redis",
    "store-sql",
    "store-sqlite",
    "telemetry",
    "worker",
  ],
};

/** Names of ports that a transport may use: what it shows of a store, never access to one. */
const SHOWN_BY_TRANSPORTS = ["Health"];

/** Inside core, from folder to folder. `types` allows `import type` only. */
const ROOMS: Record<string, Record<string, "values" | "types">> = {
  domain: { domain: "values" },
  ports: { ports: "values", domain: "types" },
  vault: { vault: "values", domain: "values", ports: "types" },
  operations: { operations: "values", domain: "values", ports: "values", vault: "types" },
};

/** Code for browsers may import types from these, and no code. */
const TYPES_ONLY: Record<string, string> = {
  "packages/client": "contract",
  "packages/form": "contract",
  "apps/web": "contract",
};

const HTTP_NUMBERS = new Set<number>(Object.values(STATUS));
// A round number that limits use, too.
HTTP_NUMBERS.delete(500);

/** What the code of some files must not contain. */
const FORBIDDEN: { where: RegExp; except?: RegExp; what: RegExp; why: string }[] = [
  {
    where: /^(packages|apps)\//,
    except: /^apps\/server\/src\/config\//,
    what: /\bprocess\.env\b/,
    why: "reads the environment outside apps/server/src/config",
  },
  {
    where: /^packages\/core\/src\/domain\//,
    what: /\bDate\.now\b|\bMath\.random\b|\bnew Date\(\)|\brandom(?:Bytes|UUID|FillSync|Int)\b/,
    why: "has a clock or randomness of its own",
  },
  {
    where: /^packages\/core\/src\//,
    what: new RegExp(`(?<![\\w.])(?:${[...HTTP_NUMBERS].join("|")})(?![\\w.])`),
    why: "has an HTTP number below HTTP",
  },
  { where: /^packages\/core\/src\//, what: /\bstatus(?:Code)?\s*[:=]\s*\d/, why: "has an HTTP number below HTTP" },
];

interface Import {
  from: string;
  names: string[];
  typesOnly: boolean;
}

const withoutComments = (text: string): string =>
  text.replace(/"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, (found) =>
    found.startsWith("/") ? "" : found,
  );

const STATEMENT = /\b(?:import|export)\s+(type\s+)?(?:([^"';]*?)\s+from\s+)?"([^"]+)"|\bimport\(\s*"([^"]+)"/g;

function importsOf({ text }: SourceFile): Import[] {
  return [...withoutComments(text).matchAll(STATEMENT)].map(([, type, clause = "", from, dynamic]) => {
    const listed = /\{([^}]*)\}/
      .exec(clause)?.[1]
      ?.split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "");
    return {
      from: from ?? dynamic ?? "",
      names: (listed ?? []).map((name) => name.replace(/^type\s+/, "").split(/\s+as\s+/)[0] ?? ""),
      typesOnly:
        type !== undefined || (listed !== undefined && listed.length > 0 && listed.every((n) => n.startsWith("type "))),
    };
  });
}

/** Maps a name of core's index to the folder that it comes from. */
function roomsOfCore(files: readonly SourceFile[]): Map<string, string> {
  const rooms = new Map<string, string>();
  const index = files.find(({ path }) => path === "packages/core/src/index.ts");
  for (const { from, names } of index === undefined ? [] : importsOf(index)) {
    const room = from.split("/")[1] ?? "";
    const source = files.find(({ path }) => path === `packages/core/src/${from.slice(2)}`);
    const declared = [
      ...(source?.text ?? "").matchAll(/^export (?:declare )?(?:interface|type|class|function|const) (\w+)/gm),
    ];
    for (const name of names.length > 0 ? names : declared.map(([, found = ""]) => found)) rooms.set(name, room);
  }
  return rooms;
}

const isTest = (path: string): boolean => /\.test\.ts$|^(?:packages|apps)\/[^/]+\/test\//.test(path);

/** Every import or phrase that the tables above do not allow, one line each. */
function violations(files: readonly SourceFile[]): string[] {
  const rooms = roomsOfCore(files);
  return files
    .filter(({ path }) => !isTest(path))
    .flatMap((file) => [...betweenPackages(file, rooms), ...insideCore(file), ...phrases(file)]);
}

function betweenPackages(file: SourceFile, rooms: Map<string, string>): string[] {
  const owner = file.path.split("/").slice(0, 2).join("/");
  const allowed = MAY_IMPORT[owner];
  if (allowed === undefined) return [`${file.path}: ${owner} is not in the table`];
  return importsOf(file).flatMap(({ from, names, typesOnly }) => {
    if (from.startsWith("../") && escapes(file.path, from)) return [`${file.path} reaches out of its package: ${from}`];
    if (!from.startsWith(SCOPE)) return [];
    const target = from.slice(SCOPE.length);
    if (TYPES_ONLY[owner] === target && !typesOnly) return [`${file.path} imports values of ${target}`];
    if (allowed.includes(target)) return [];
    if (target !== "core" || names.length === 0) return [`${file.path} imports ${from}`];
    return names
      .filter(
        (name) =>
          !allowed.includes(`core/${rooms.get(name)}`) && !(isTransport(owner) && SHOWN_BY_TRANSPORTS.includes(name)),
      )
      .map((name) => `${file.path} imports ${name} of core/${rooms.get(name)}`);
  });
}

const isTransport = (owner: string): boolean => owner === "packages/http";

function escapes(path: string, from: string): boolean {
  const depth = path.split("/").slice(3, -1).length;
  return from.split("/").filter((part) => part === "..").length > depth;
}

function insideCore(file: SourceFile): string[] {
  const [, room = ""] = /^packages\/core\/src\/(\w+)\//.exec(file.path) ?? [];
  const allowed = ROOMS[room];
  if (allowed === undefined) return [];
  return importsOf(file).flatMap(({ from, typesOnly }) => {
    if (!from.startsWith(".")) return [];
    const target = new URL(from, `file:///${file.path}`).pathname.split("/")[4] ?? "";
    const right = allowed[target];
    if (right === undefined) return [`${file.path} (${room}) imports ${target}`];
    return right === "types" && !typesOnly ? [`${file.path} (${room}) imports values of ${target}`] : [];
  });
}

function phrases({ path, text }: SourceFile): string[] {
  const code = withoutComments(text);
  return FORBIDDEN.filter(
    ({ where, except, what }) => where.test(path) && except?.test(path) !== true && what.test(code),
  ).map(({ why }) => `${path} ${why}`);
}

const sources: SourceFile[] = globSync("{packages,apps}/*/{src,test}/**/*.{ts,tsx}", { cwd: ROOT }).map((path) => ({
  path,
  text: readFileSync(join(ROOT, path), "utf8"),
}));

test("every import follows the tree", () => {
  expect(sources.flatMap(importsOf).length).toBeGreaterThan(500);
  expect(violations(sources)).toEqual([]);
});

test("every package has a row in the table", () => {
  const folders = globSync("{packages,apps}/*/package.json", { cwd: ROOT }).map((path) =>
    path.replace("/package.json", ""),
  );
  expect(folders.toSorted()).toEqual(Object.keys(MAY_IMPORT).toSorted());
});

const core = sources.filter(
  ({ path }) => path === "packages/core/src/index.ts" || path.startsWith("packages/core/src/ports/"),
);
const complaintsAbout = (path: string, text: string): string[] => violations([...core, { path, text }]);

test.each([
  [
    "packages/contract/src/a.ts",
    'import { ContractError } from "@formbridge/core";',
    "imports ContractError of core/domain",
  ],
  [
    "packages/http/src/a.ts",
    'import { openSqliteBackend } from "@formbridge/store-sqlite";',
    "imports @formbridge/store-sqlite",
  ],
  ["packages/http/src/a.ts", 'import type { Store } from "@formbridge/core";', "imports Store of core/ports"],
  ["packages/store-memory/src/a.ts", 'import { createOperations } from "@formbridge/core";', "of core/operations"],
  [
    "packages/http/src/parse/a.ts",
    'import { sha256 } from "../../../core/src/domain/hashing.ts";',
    "reaches out of its package",
  ],
  ["packages/core/src/domain/a.ts", 'import { submit } from "../operations/submit.ts";', "(domain) imports operations"],
  [
    "packages/core/src/domain/decide/a.ts",
    'import { createRandomness } from "../../vault/mint.ts";',
    "(domain) imports vault",
  ],
  ["packages/core/src/domain/a.ts", 'import type { Store } from "../ports/store.ts";', "(domain) imports ports"],
  ["packages/core/src/ports/a.ts", 'import { sha256 } from "../domain/hashing.ts";', "imports values of domain"],
  ["packages/core/src/vault/a.ts", 'import { isLive } from "../ports/store.ts";', "imports values of ports"],
  ["packages/core/src/domain/a.ts", "const now = Date.now();", "clock or randomness"],
  ["packages/core/src/domain/a.ts", "const id = Math.random();", "clock or randomness"],
  ["packages/core/src/operations/a.ts", "if (missing) return 404;", "HTTP number"],
  ["packages/core/src/operations/a.ts", "reply({ status: 500 });", "HTTP number"],
  ["packages/worker/src/a.ts", "const level = process.env.LEVEL;", "reads the environment"],
  ["packages/client/src/a.ts", 'import { ERROR_TYPES } from "@formbridge/contract";', "imports values of contract"],
  ["packages/unheard-of/src/a.ts", "", "is not in the table"],
])("%s may not contain: %s", (path, text, complaint) => {
  expect(complaintsAbout(path, text)).toEqual([expect.stringContaining(complaint)]);
});

test("what is allowed passes: types, comments, tests", () => {
  expect(
    complaintsAbout("packages/core/src/vault/a.ts", 'import type { Store } from "../ports/store.ts"; // not a 404'),
  ).toEqual([]);
  expect(
    complaintsAbout("packages/http/src/a.ts", 'import type { Health, Operations } from "@formbridge/core";'),
  ).toEqual([]);
  expect(
    complaintsAbout("packages/store-sqlite/test/a.ts", 'import { storeSuite } from "@formbridge/conformance";'),
  ).toEqual([]);
});
