import { expect, it } from "vitest";
import { createAesSealer } from "./aes-sealer.ts";

const OLD = "an old secret of at least 32 characters";
const NEW = "a new secret of at least 32 characters!";

it("[TOKENS-BOUND] what is sealed for one tenant, submission and version opens for no other", () => {
  const sealer = createAesSealer([OLD]);
  const sealed = sealer.seal("rtok_x", "token:acme:sub_1:3");
  expect(sealer.open(sealed, "token:acme:sub_1:3")).toBe("rtok_x");
  for (const other of ["token:globex:sub_1:3", "token:acme:sub_2:3", "token:acme:sub_1:4", "fields:acme:sub_1:3", ""]) {
    expect(() => sealer.open(sealed, other)).toThrow();
  }
});

it("what was altered does not open", () => {
  const sealer = createAesSealer([OLD]);
  const sealed = sealer.seal("rtok_x", "bound");
  for (let at = sealed.indexOf(".") + 1; at < sealed.length - 1; at++) {
    const altered = sealed.slice(0, at) + (sealed[at] === "A" ? "B" : "A") + sealed.slice(at + 1);
    expect(() => sealer.open(altered, "bound")).toThrow();
  }
});

it("[TOKENS-KEY-ROTATION] the newest key seals, every known one opens, and a missing one is reported", () => {
  const before = createAesSealer([OLD]);
  const between = createAesSealer([NEW, OLD]);
  const after = createAesSealer([NEW]);
  const sealed = before.seal("text", "bound");
  expect(between.open(sealed, "bound")).toBe("text");
  expect(after.open(between.seal("text", "bound"), "bound")).toBe("text");
  expect(() => after.open(sealed, "bound")).toThrow("does not have");
});

it("the same text is sealed differently every time", () => {
  const sealer = createAesSealer([OLD]);
  expect(sealer.seal("text", "bound")).not.toBe(sealer.seal("text", "bound"));
});
