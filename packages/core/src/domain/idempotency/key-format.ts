import { IDEMPOTENCY_KEY_PATTERN } from "@formbridge/contract";
import { ContractError } from "../error.ts";

const WELL_FORMED = new RegExp(IDEMPOTENCY_KEY_PATTERN);
/** Without authentication only the idempotency key distinguishes callers, so it must be hard to guess. */
const MIN_ANONYMOUS_LENGTH = 32;

export function checkKeyFormat(key: string, { anonymous }: { anonymous: boolean }): void {
  if (!WELL_FORMED.test(key)) {
    throw new ContractError(
      "bad_request",
      "An idempotency key must have 1 to 255 printable ASCII characters without spaces.",
    );
  }
  if (anonymous && key.length < MIN_ANONYMOUS_LENGTH) {
    throw new ContractError(
      "bad_request",
      `Without authentication an idempotency key needs at least ${MIN_ANONYMOUS_LENGTH} characters.`,
    );
  }
}
