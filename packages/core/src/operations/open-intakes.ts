import type { IntakeResponse } from "@formbridge/contract";
import type { Hash } from "../domain/hashing.ts";
import { INTAKES_CHANGED } from "../ports/events.ts";
import type { Caller } from "./caller.ts";
import { DEFAULT_TENANT } from "./keys.ts";
import { authenticate, reachesIntake } from "./support/authenticate.ts";
import type { Context } from "./support/context.ts";
import { viewOf } from "./support/intake-view.ts";

export interface OpenIntake {
  /** Names the content: the same digest is the same definition. */
  digest: Hash;
  /** Without secrets. */
  definition: IntakeResponse["intake"];
  retired: boolean;
}

export interface OpenIntakes {
  tenant: string;
  intakes: OpenIntake[];
}

const MAX_INTAKES = 1_000;

/**
 * The intakes that a caller sees, whole, for a binding that makes something of each of them. Without a key these are the public
 * ones of the operator's own tenant. Retired ones are among them: what runs goes on.
 */
export async function openIntakes({ deps }: Context, call: { caller: Caller }): Promise<OpenIntakes> {
  const principal = await authenticate(deps, call.caller);
  const tenant = principal?.tenant ?? DEFAULT_TENANT;
  const stored = await deps.backend.intakes.list({ tenant }, MAX_INTAKES);
  const seen = stored.filter(({ definition }) =>
    principal === undefined ? definition.access === "public" : reachesIntake(principal, definition.id),
  );
  const intakes = seen.map((intake) => ({
    digest: intake.digest,
    definition: viewOf(intake, { forAdmin: false }),
    retired: intake.retired,
  }));
  return { tenant, intakes };
}

/** Throws when the caller's credential is no longer good: for what was looked up with it a moment ago. */
export async function checkCaller({ deps }: Context, call: { caller: Caller }): Promise<void> {
  await authenticate(deps, call.caller);
}

/** Calls when intakes may have changed, here or on another instance: a hint. Answers how to stop. */
export async function watchIntakes({ deps }: Context, changed: () => void): Promise<() => void> {
  return deps.wakeups.subscribe(INTAKES_CHANGED, changed);
}
