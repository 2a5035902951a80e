/** Everything that pages name exists: settings and their defaults, events, errors, commands, tools and paths. Decisions describe their own time. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createProgram } from "../apps/server/src/cli/program.ts";
import { SETTINGS, type Setting } from "../apps/server/src/config/settings.ts";
import { ERROR_TYPES, FIELD_ERROR_CODES } from "../packages/contract/src/errors.ts";
import { EVENT_TYPES } from "../packages/contract/src/events.ts";
import { STATUS } from "../packages/http/src/error-map.ts";
import { ROUTES } from "../packages/http/src/routes.ts";
import { TOOLS } from "../packages/mcp/src/tools/table.ts";
import { METRICS } from "../packages/telemetry/src/index.ts";
import { pages as all, ROOT, read } from "./support/pages.ts";

const pages = all.filter((page) => !page.startsWith("docs/decisions/"));
/** Metrics and log lines have the names of the design, some of which look like events or tools. */
const OBSERVED = ["docs/reference/metrics.md", "docs/how-to/observe.md"];
const exceptMetrics = ({ page }: { page: string }): boolean => !OBSERVED.includes(page);
const settings = SETTINGS as Record<string, Setting>;

/** All matches of a pattern, with the page that each is on. */
const found = (pattern: RegExp): { page: string; parts: string[] }[] =>
  pages.flatMap((page) => [...read(page).matchAll(pattern)].map(([, ...parts]) => ({ page, parts })));

describe("settings", () => {
  /** Set by the test runner, and by the example's proxy. */
  const OTHERS = ["FORMBRIDGE_TEST_STORE", "FORMBRIDGE_ONE", "FORMBRIDGE_TWO", "FORMBRIDGE_THREE"];

  test("[AUDIT-F23] every setting that a page names exists", () => {
    const named = found(/\b(FORMBRIDGE_[A-Z0-9_]*[A-Z0-9])\b/g).map(({ parts: [name = ""] }) => name);
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter((name) => settings[name] === undefined && !OTHERS.includes(name))).toEqual([]);
  });

  test("[AUDIT-F23] a default that a page gives in brackets is the setting's", () => {
    const told = found(/`(FORMBRIDGE_\w+)` \(([^)]+)\)/g).flatMap(({ page, parts: [name = "", words = ""] }) => {
      const amount = amountOf(words.split(/[,;]/)[0] ?? "");
      return amount === undefined ? [] : [{ page, name, amount }];
    });
    expect(told.length).toBeGreaterThan(6);
    for (const { page, name, amount } of told) {
      expect(`${page}: ${name} ${amount}`).toBe(`${page}: ${name} ${settings[name]?.fallback}`);
    }
  });
});

const UNITS: Record<string, number> = {
  s: 1000,
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  "": 1,
};

/** `a day`, `20 s`, `10 GiB`, `5`, `no bound` as the number that the setting has. */
function amountOf(words: string): number | undefined {
  if (words === "no bound") return 0;
  const [, count = "", unit = ""] = /^(an?|[\d,]+) ?([A-Za-z]*?)s?$/.exec(words.trim()) ?? [];
  const factor = UNITS[unit === "" && words.endsWith(" s") ? "s" : unit];
  if (count === "" || factor === undefined) return undefined;
  return factor * (count.startsWith("a") ? 1 : Number(count.replaceAll(",", "")));
}

describe("the contract", () => {
  test("[AUDIT-F23] every event type that a page names exists", () => {
    const streams = [...new Set(Object.keys(EVENT_TYPES).map((type) => type.split(".")[0]))].join("|");
    const named = found(new RegExp(`[\`"]((?:${streams})\\.[a-z_]+(?:\\.[a-z_]+)*)[\`"]`, "g")).filter(exceptMetrics);
    expect(named.length).toBeGreaterThan(100);
    // The type of a delivery's message, and members of responses and of the client.
    const others = ["submission.delivery", "review.decisions", "review.barred", "upload.ticket"];
    const unknown = named.filter(({ parts: [type = ""] }) => !(type in EVENT_TYPES) && !others.includes(type));
    expect(unknown).toEqual([]);
  });

  test("[AUDIT-F23] every error that a page names beside its status has that status", () => {
    const named = found(/\b([45]\d\d) `([a-z_]+)`/g);
    expect(named.length).toBeGreaterThan(30);
    const wrong = named.filter(({ parts: [status, type = ""] }) => {
      if (type in ERROR_TYPES) {
        const second = type === "token_invalid" || type === "invalid" ? "400" : undefined;
        return status !== String(STATUS[type as keyof typeof STATUS]) && status !== second;
      }
      return !(type in FIELD_ERROR_CODES && status === "422");
    });
    expect(wrong).toEqual([]);
  });

  test("[AUDIT-F23] every path that a page names with its method is a route", () => {
    const named = found(/\b(GET|POST|PUT|PATCH|DELETE) (?:`)?((?:…)?\/[^\s`?,;:)]*)/g);
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter(({ parts: [method = "", path = ""] }) => !isServed(method, path))).toEqual([]);
  });
});

/** Routes of the server that are not in its table. */
const BESIDE = [
  "GET /healthz",
  "GET /readyz",
  "GET /openapi.json",
  "GET /docs",
  "GET /review",
  "POST /mcp",
  "GET /oai",
  "POST /oai",
  "GET /uploads/:uploadId",
  "PUT /uploads/:uploadId",
];

function isServed(method: string, path: string): boolean {
  const isEnd = path.startsWith("…");
  const wanted = path
    .replace(/^…/, "")
    .replace(/[.*]+$/, "")
    .split("/")
    .slice(1);
  const served = [...ROUTES.map((route) => `${route.method} ${route.path}`), ...BESIDE];
  return served.some((route) => {
    const [itsMethod, itsPath = ""] = route.split(" ");
    const parts = itsPath.split("/").slice(1);
    const compared = isEnd ? parts.slice(-wanted.length) : parts;
    return (
      itsMethod === method &&
      compared.length === wanted.length &&
      compared.every((part, index) => part === wanted[index] || (part.startsWith(":") && wanted[index] !== ""))
    );
  });
}

test("[AUDIT-F23] the status page lists a page as missing as long as it is not built", () => {
  const status = read("docs/concepts/status.md");
  const isListed = { review: /^\| The review page \|/m.test(status), console: /^\| A console/m.test(status) };
  const isBuilt = (name: string): boolean => existsSync(join(ROOT, `apps/web/pages/${name}.html`));
  expect(isListed).toEqual({ review: !isBuilt("review"), console: !isBuilt("console") });
  for (const path of ["/oai"]) {
    const isServedNow = ROUTES.some((route) => route.path.startsWith(path)) || BESIDE.includes(`GET ${path}`);
    expect([path, status.includes(path)]).toEqual([path, !isServedNow]);
  }
});

describe("agents and operators", () => {
  test("[AUDIT-F23] every tool and metric that a page names exists", () => {
    const tools = new Set<string>([...TOOLS.map(({ generic }) => generic), "formbridge_form", ...Object.keys(METRICS)]);
    const named = found(/`(formbridge_[a-z_]+)`/g).filter(exceptMetrics);
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter(({ parts: [name = ""] }) => !tools.has(name))).toEqual([]);
  });

  test("[AUDIT-F31] every command that a page names exists", async () => {
    const program = await createProgram();
    const named = found(/(?:`|npx |\bbin\/)formbridge(?:\.mjs)? ([a-z]+)(?: ([a-z]+))?/g);
    expect(named.length).toBeGreaterThan(30);
    const unknown = named.filter(({ parts: [name = "", below = ""] }) => {
      const command = program.commands.find((child) => child.name() === name);
      if (command === undefined) return true;
      return command.commands.length > 0 && !command.commands.some((child) => child.name() === below);
    });
    expect(unknown).toEqual([]);
  });

  test("[AUDIT-F40] every option that a page gives a command exists", async () => {
    const program = await createProgram();
    const lines = found(
      /npx formbridge ([a-z]+(?: (?:create|list|count|revoke|check|secret|show|delete))?)((?:[^\n`#|]|\\\n)*)/g,
    );
    const unknown = lines.flatMap(({ page, parts: [names = "", rest = ""] }) => {
      const [first, second] = names.split(" ");
      const outer = program.commands.find((child) => child.name() === first);
      const command = outer?.commands.find((child) => child.name() === second) ?? outer;
      const known = command?.options.map(({ long }) => long) ?? [];
      return [...rest.matchAll(/ (--[a-z-]+)/g)].flatMap(([, option = ""]) =>
        known.includes(option) || option === "--help" ? [] : [`${page}: formbridge ${names} ${option}`],
      );
    });
    expect(unknown).toEqual([]);
  });
});
