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
  for (const { path, value } of patched.set) next += path.join(".").length + lengthOf(value);
  if (next <= max) return next;
  const exact = lengthOf(patched.fields);
  if (exact > max)
    throw new ContractError("payload_too_large", `A submission holds at most ${max} characters of JSON.`);
  return exact;
}
