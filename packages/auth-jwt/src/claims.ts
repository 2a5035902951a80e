import type { JWTPayload } from "jose";

const own = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

/** A claim of that very name, else what a dot-path leads to. */
export function claimOf(payload: JWTPayload, name: string): unknown {
  return own(payload, name) ?? name.split(".").reduce<unknown>(own, payload);
}

/** Text that can be kept and shown as it is: no control characters, no half of a surrogate pair. */
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

/** A list, or words with spaces between them, as `scope` has them. */
export function wordsClaim(payload: JWTPayload, name: string): string[] {
  const value = claimOf(payload, name);
  if (typeof value === "string") return value.split(" ").filter((word) => word !== "");
  return Array.isArray(value) ? value.filter((word) => typeof word === "string") : [];
}
