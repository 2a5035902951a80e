import type { FieldError } from "@formbridge/contract";
import type { ErrorObject } from "ajv";
import { type Masking, maskValue } from "../fields/mask.ts";
import type { Findings } from "./compiled-intake.ts";
import { type Meaning, meaningOf } from "./error-meaning.ts";
import { meantBranch } from "./meant-branch.ts";
import { isObject, pointerSegments } from "./schema-nodes.ts";
import type { SchemaValidator } from "./schema-validator.ts";

/** More problems than anyone would read. */
const MAX_PROBLEMS = 1000;
const MAX_TEXT = 200;
const MAX_RECEIVED = 2000;

/** Keywords that fail as a whole, after the failures of their parts. */
const SUMMARIES: ReadonlySet<string> = new Set(["anyOf", "oneOf", "contains", "propertyNames"]);

export interface FindingsContext extends Masking {
  validator: SchemaValidator;
}

/** ajv's errors in the contract's terms: each problem once, without the noise of conditions and branches. */
export function toFindings(errors: readonly ErrorObject[], context: FindingsContext): Findings {
  if (errors.length === 0) return { missing: [], errors: [] };
  const found = new Map<string, { path: string; meaning: Meaning; segments: readonly string[] }>();
  const wrongType = new Set<string>();
  for (const { error, segments } of plain(errors, [], context)) {
    const meaning = meaningOf(error, segments, context);
    const path = meaning.segments.join(".");
    const key = meaning.missing ? `${path}\n` : `${path}\n${meaning.code}\n${meaning.message}`;
    if (meaning.code === "invalid_type") wrongType.add(path);
    if (!found.has(key)) found.set(key, { path, meaning, segments: meaning.segments });
    if (found.size >= MAX_PROBLEMS) break;
  }
  const findings: Findings = { missing: [], errors: [] };
  for (const { path, meaning, segments } of found.values()) {
    if (meaning.code === "invalid_value" && wrongType.has(path)) continue;
    if (meaning.missing) findings.missing.push(path);
    findings.errors.push(fieldError(path, meaning, shown(meaning.received, segments, context)));
  }
  return findings;
}

function fieldError(path: string, { code, message, expected }: Meaning, received: unknown): FieldError {
  return { path, code, message, ...(expected === undefined ? {} : { expected }), received };
}

interface Placed {
  error: ErrorObject;
  segments: readonly string[];
}

function* plain(errors: readonly ErrorObject[], base: readonly string[], context: FindingsContext): Generator<Placed> {
  for (const error of withoutParts(errors, context)) {
    if (error.keyword === "if") continue;
    const segments = [...base, ...pointerSegments(error.instancePath)];
    const meant = meantBranch(error, context.validator.resolve);
    const inner = meant === undefined ? [] : context.validator.errorsOfBranch(meant, error.data);
    if (inner.length > 0) yield* plain(inner, segments, context);
    else yield { error, segments };
  }
}

/**
 * ajv lists the failures of each branch right before the failure of the whole, and its schema paths restart at each
 * reference. So the parts are recognized by their position in the list, in the value and in the schema.
 */
function withoutParts(errors: readonly ErrorObject[], { validator }: FindingsContext): ErrorObject[] {
  const kept: ErrorObject[] = [];
  for (const error of errors) {
    const outer = error.parentSchema;
    if (SUMMARIES.has(error.keyword) && isObject(outer)) {
      for (let last = kept.at(-1); last !== undefined; last = kept.at(-1)) {
        const within =
          last.instancePath === error.instancePath || last.instancePath.startsWith(`${error.instancePath}/`);
        if (!within || !validator.leadsTo(outer, error.keyword, last.parentSchema)) break;
        kept.pop();
      }
    }
    kept.push(error);
  }
  return kept;
}

/** The received value, if it may be shown and is worth showing. */
function shown(value: unknown, segments: readonly string[], masking: Masking): unknown {
  const masked = maskValue(value ?? null, segments, masking);
  if (typeof masked === "string") return masked.length > MAX_TEXT ? `${masked.slice(0, MAX_TEXT)}…` : masked;
  if (typeof masked !== "object" || masked === null) return masked;
  if (JSON.stringify(masked).length <= MAX_RECEIVED) return masked;
  return Array.isArray(masked) ? `an array of ${masked.length}` : "an object";
}
