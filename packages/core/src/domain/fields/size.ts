import { ContractError } from "../error.ts";
import type { PatchResult } from "./apply-patch.ts";

const lengthOf = (value: unknown): number => JSON.stringify(value).length;

/**
 * Limits the total size of the fields, since many small bodies can add up. An upper bound is kept and the fields are
 * measured only when it exceeds the limit, so that a small write to large fields stays cheap. Returns the new bound.
 */
export function boundedSize(
  patched: Pick<PatchResult, "fields" | "set">,
  { bound, max }: { bound: number; max: number },
): number {
  let next = bound;
  let paths = 0;
  for (const { path, value } of patched.set) {
    for (const segment of path) paths += segment.length + 1;
    next += lengthOf(value);
  }
  // Every path is written out in full, in the response and in the history.
  if (paths > max) throw tooLarge(max);
  next += paths;
  if (next <= max) return next;
  const exact = lengthOf(patched.fields);
  if (exact > max) throw tooLarge(max);
  return exact;
}

const tooLarge = (max: number): ContractError =>
  new ContractError(
    "payload_too_large",
    `The fields of a submission can have at most ${max} characters of JSON. Make some shorter.`,
  );
