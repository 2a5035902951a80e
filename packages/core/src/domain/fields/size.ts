import { ContractError } from "../error.ts";
import type { PatchResult } from "./apply-patch.ts";

const lengthOf = (value: unknown): number => JSON.stringify(value).length;

/**
 * Every body is bounded; so must be what they add up to. A bound is carried along and the whole measured only when the bound is
 * passed, so that a small write to large fields stays small. Answers the new bound.
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
  // Every place is told by its whole path, in the answer and in the history.
  if (paths > max) throw tooLarge(max);
  next += paths;
  if (next <= max) return next;
  const exact = lengthOf(patched.fields);
  if (exact > max)
    throw new ContractError("payload_too_large", `A submission holds at most ${max} characters of JSON.`);
  return exact;
}

const tooLarge = (max: number): ContractError =>
  new ContractError("payload_too_large", `A submission holds at most ${max} characters of JSON.`);
