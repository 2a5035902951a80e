/** A rule that matters exists once: this searches every source file for its marks. Each mark is tested on copies that it must find. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const SOURCES = globSync(["packages/*/src/**/*.{ts,tsx,mts,mjs,sql}", "apps/*/src/**/*.{ts,tsx,mts,mjs}"], {
  cwd: ROOT,
})
  .filter((path) => !/\.test\.tsx?$/.test(path) && !path.startsWith("packages/conformance/"))
  .toSorted();

interface Rule {
  name: string;
  home: string;
  /** What every copy of the rule would contain. */
  marks: readonly RegExp[];
  /** Copies that existed, or could exist: each has a mark. */
  copies: readonly string[];
}

const RULES: readonly Rule[] = [
  {
    name: "the hash of an event",
    home: "packages/core/src/domain/chain.ts",
    marks: [
      // The text that is hashed, and hashing inside a database.
      /\\?["']?prevHash\\?["']:\s*\\?["'`]/,
      /sha256\(\s*convert_to\(/i,
      /\bsha256\([^;]*prev_?hash/i,
      /\bdigest\([^;]*prev_?hash/i,
    ],
    copies: [
      `hash("sha256", \`{"actorDigest":"\${a}","prevHash":"\${previous}","seq":\${seq}\`)`,
      "encode(sha256(convert_to(p_events[n + 13] || own_token_hash || '\",\"seq\":' || own_token_seq, 'UTF8')), 'hex')",
      "const own = sha256(before + prevHash + after);",
    ],
  },
  {
    name: "how long a token lives",
    home: "packages/core/src/domain/policy.ts",
    marks: [
      // The bounds are read nowhere else, except where settings fill them in.
      /\btokenTtlM(?:in|ax)Ms\b(?!: read\.number)(?<!DEFAULT_POLICY\.tokenTtlM(?:in|ax)Ms)/,
      /tokens\??\.ttlMs/,
    ],
    copies: [
      "const ttl = Math.min(definition.tokens?.ttlMs ?? policy.tokenTtlMs, policy.tokenTtlMaxMs);",
      "const lives = intake.tokens.ttlMs;",
    ],
  },
  {
    name: "which state follows which",
    home: "packages/core/src/domain/transitions.ts",
    marks: [
      // A list of states under the name of a state.
      /\b(?:draft|in_progress|awaiting_input|awaiting_upload|needs_review|rejected|submitted)["']?:\s*(?:new Set\()?\[\s*["'](?:in_progress|awaiting_input|awaiting_upload|submitted|needs_review|approved|rejected|finalized|cancelled|expired)["']/,
    ],
    copies: [`const NEXT = { needs_review: ["approved", "rejected", "cancelled"] };`],
  },
  {
    name: "which states can be written to",
    home: "packages/contract/src/editable-states.ts",
    marks: [
      /["']draft["'],\s*["']in_progress["'],\s*["']awaiting_input["'],\s*["']awaiting_upload["'],\s*["']rejected["']/,
    ],
    copies: [
      `const EDITABLE = ["draft", "in_progress", "awaiting_input", "awaiting_upload", "rejected"];`,
      `"WHERE state IN ('draft', 'in_progress', 'awaiting_input', 'awaiting_upload', 'rejected')"`,
    ],
  },
];

describe.each(RULES)("$name", ({ home, marks, copies }) => {
  const isCopy = (text: string): boolean => marks.some((mark) => mark.test(text));

  it(`is in ${home} alone`, () => {
    expect(SOURCES.filter((path) => isCopy(readFileSync(join(ROOT, path), "utf8")))).toEqual([home]);
  });

  it.each(copies)("would be found in a copy: %s", (copy) => {
    expect(isCopy(copy)).toBe(true);
  });
});

it("looks at every package and app", () => {
  const rooms = new Set(SOURCES.map((path) => path.split("/").slice(0, 2).join("/")));
  expect(rooms.size).toBeGreaterThan(12);
  expect(SOURCES.length).toBeGreaterThan(300);
});
