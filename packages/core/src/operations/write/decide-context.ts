import type { DecideContext } from "../../domain/decide/decision.ts";
import type { Deps } from "../deps.ts";

/** What a decision of this actor, made now, may use. */
export const decideContextOf = (
  { settings, random }: Deps,
  about: Pick<DecideContext, "now" | "actor" | "intake">,
): DecideContext => ({ ...about, policy: settings.policy, newId: random.newId });
