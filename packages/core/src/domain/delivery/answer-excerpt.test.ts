import { describe, expect, it } from "vitest";
import { compileIntake } from "../intake/compile-intake.ts";
import type { Submission } from "../submission.ts";
import { answerExcerpt } from "./answer-excerpt.ts";

const intake = compileIntake({
  id: "vendor",
  version: "1",
  name: "Vendor",
  schema: {
    type: "object",
    properties: {
      name: { type: "string" },
      tax: { type: "string", "x-sensitive": true },
      bank: { type: "object", properties: { iban: { type: "string" } }, "x-sensitive": true },
    },
  },
  destination: { kind: "webhook", url: "https://receiver.invalid" },
});
const destination = {
  kind: "webhook",
  url: "https://login:pass%20word@receiver.invalid/?key=query",
  headers: { authorization: "Bearer header" },
  secret: "a signing secret",
} as const;
const fields = { name: "Ada", tax: '12"34', bank: { iban: "DE0012" } };
const sent = { submission: { fields } as unknown as Submission, intake, destination };

describe("[AUDIT-F39] the excerpt of a response", () => {
  it("quotes no sensitive value, plain or inside JSON, and no secret of ours", () => {
    const answer = `Ada ${JSON.stringify(fields)} 12"34 rtok_${"a".repeat(43)}`;
    const shown = answerExcerpt(answer, sent);
    expect(shown).toContain("Ada");
    expect(shown).not.toMatch(/12"34|12\\"34|DE0012|rtok_a/);
  });

  it("quotes no credential of the destination", () => {
    const basic = `Basic ${Buffer.from("login:pass word").toString("base64")}`;
    const shown = answerExcerpt(`Bearer header; ${basic}; pass word; ?key=query; a signing secret`, sent);
    expect(shown).not.toMatch(/header|bG9naW4|pass word|query|signing/);
  });

  it("is at most a kilobyte of printable text", () => {
    expect(answerExcerpt(`a\u0000b${"x".repeat(5_000)}`, sent)).toBe(`a b${"x".repeat(1_021)}`);
  });
});
