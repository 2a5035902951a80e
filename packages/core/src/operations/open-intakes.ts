import type { IntakeResponse, Role } from "@formbridge/contract";
import type { Hash } from "../domain/hashing.ts";
import { INTAKES_CHANGED } from "../ports/events.ts";
import type { Caller } from "./caller.ts";
import type { Context } from "./context.ts";
import { authenticate, reachesIntake } from "./identity/authenticate.ts";
import { DEFAULT_TENANT } from "./keys.ts";
import { viewOf } from "./read/intake-view.ts";

export interface OpenIntake {
  /** Identifies the content: the same digest means the same definition. */
  digest: Hash;
  /** Without secrets. */
  definition: IntakeResponse["intake"];
  retired: boolean;
}

export interface OpenIntakes {
  tenant: string;
  /** The roles of the caller's API key; absent without one. */
  roles?: readonly Role[];
  intakes: OpenIntake[];
}

const MAX_INTAKES = 1_000;

/**
 * The full intakes that a caller can see, for a binding that builds something from each. Without an API key, the public
 * ones of the operator's own tenant. Includes retired ones, because open submissions continue.
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
  return { tenant, intakes, ...(principal && { roles: principal.roles }) };
}

/** Throws if the caller's credential is no longer valid, before using something that was looked up with it earlier. */
export async function checkCaller({ deps }: Context, call: { caller: Caller }): Promise<void> {
  await authenticate(deps, call.caller);
}

/** Calls back when intakes may have changed, in any instance; may get lost. Returns how to unsubscribe. */
export async function watchIntakes({ deps }: Context, changed: () => void): Promise<() => void> {
  return deps.wakeups.subscribe(INTAKES_CHANGED, changed);
}
