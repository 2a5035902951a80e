import type { JWTPayload } from "jose";

const own = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

/** The claim with exactly this name, else what the dot-path leads to. */
export function claimOf(payload: JWTPayload, name: string): unknown {
  return own(payload, name) ?? name.split(".").reduce<unknown>(own, payload);
}

/** Text that can be stored and shown as is: no control characters, no lone surrogates. */
export function textClaim(payload: JWTPayload, name: string, { maxLength }: { maxLength: number }): string | undefined {
  const value = claimOf(payload, name);
  const isFine =
    typeof value === "string" &&
    value !== "" &&
    value.length <= maxLength &&
    value.isWellFormed() &&
    !/\p{Cc}/u.test(value);
  return isFine ? value : undefined;
}

/** A list, or words separated by spaces as in `scope`. */
export function wordsClaim(payload: JWTPayload, name: string): string[] {
  const value = claimOf(payload, name);
  if (typeof value === "string") return value.split(" ").filter((word) => word !== "");
  return Array.isArray(value) ? value.filter((word) => typeof word === "string") : [];
}
