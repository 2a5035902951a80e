import { isUtf8 } from "node:buffer";
import { ContractError } from "./error.ts";
import { RESERVED_NAMES } from "./fields/json-values.ts";
import { countMembers, findRepeatedMember } from "./json-members.ts";

export interface JsonLimits {
  maxDepth: number;
  maxKeys: number;
}

const bad = (message: string, cause?: unknown): ContractError => new ContractError("bad_request", message, { cause });

/**
 * Parses a body so that nothing gets lost or smuggled in: no broken UTF-8, lone surrogates, numbers that would be
 * rounded, duplicate members, names that reach a prototype, or excessive depth or width.
 */
export function parseJsonBody(bytes: Buffer, limits: JsonLimits): unknown {
  if (!isUtf8(bytes)) throw bad("The body is not valid UTF-8. Encode it as UTF-8.");
  const text = bytes.toString("utf8");
  const value = parseExactly(text);
  const seen = { keys: 0 };
  checkTree(value, { depth: 0, limits, seen });
  if (countMembers(bytes) !== seen.keys) throw repeated(text);
  return value;
}

/** Two parsers could each pick a different one. */
function repeated(text: string): ContractError {
  const path = (findRepeatedMember(text) ?? "").slice(0, MAX_NAMED_PATH);
  const message = `The member ${JSON.stringify(path)} appears more than once. Send it once.`;
  return new ContractError("bad_request", message, { fields: [{ path, code: "custom", message }] });
}

const MAX_NAMED_PATH = 200;

function parseExactly(text: string): unknown {
  try {
    return MAY_ROUND.test(text) ? JSON.parse(text, refuseRounding) : JSON.parse(text);
  } catch (error) {
    if (error instanceof ContractError) throw error;
    throw bad("The body is not valid JSON.", error);
  }
}

/** Up to 15 digits and a small exponent always survive unchanged; everything else is checked exactly. */
const MAY_ROUND = /\d[\d.]{15}|\d[eE][+-]?\d{3}/;

/** Compares the number as written with the number as stored, both as plain decimals. */
function refuseRounding(_key: string, value: unknown, context?: { source: string }): unknown {
  if (typeof value === "number" && context !== undefined && !isSameNumber(context.source, value)) {
    throw bad(`The number ${context.source.slice(0, 40)} can't be kept exactly; send it as a string.`);
  }
  return value;
}

/** No exactly stored number needs this many characters; longer ones aren't worth comparing. */
const MAX_NUMBER_LENGTH = 360;

const isSameNumber = (source: string, value: number): boolean =>
  source.length <= MAX_NUMBER_LENGTH && Number.isFinite(value) && plainDecimal(source) === plainDecimal(String(value));

/** Turns `-1.50e3` into digits and an exponent without leading or trailing zeros. */
function plainDecimal(text: string): string {
  const [mantissa = "", exponent = "0"] = text.toLowerCase().replace(/^-/, "").split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

function checkTree(value: unknown, at: { depth: number; limits: JsonLimits; seen: { keys: number } }): void {
  if (typeof value === "string") {
    if (!value.isWellFormed()) throw bad("The body has a lone surrogate, which is not valid Unicode. Remove it.");
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const { depth, limits, seen } = at;
  if (depth >= limits.maxDepth)
    throw bad(`The body is nested deeper than ${limits.maxDepth} levels. Send a flatter one.`);
  const inner = { depth: depth + 1, limits, seen };
  if (Array.isArray(value)) {
    for (const item of value) checkTree(item, inner);
    return;
  }
  const names = Object.keys(value);
  countKeys(seen, names.length, limits);
  for (const name of names) {
    if (RESERVED_NAMES.has(name)) throw bad(`The name ${name} is reserved. Use another one.`);
    if (!name.isWellFormed()) throw bad("The body has a lone surrogate, which is not valid Unicode. Remove it.");
    checkTree((value as Record<string, unknown>)[name], inner);
  }
}

function countKeys(seen: { keys: number }, more: number, limits: JsonLimits): void {
  seen.keys += more;
  if (seen.keys > limits.maxKeys) throw bad(`The body has more than ${limits.maxKeys} members. Send fewer.`);
}
