import type { ChangeDestinationResponse, Destination, DestinationInput } from "@formbridge/contract";
import { decideChangeDestination } from "../domain/decide/change-destination.ts";
import { ContractError } from "../domain/error.ts";
import { askAdmin } from "../domain/next-actions.ts";
import type { Sealed } from "../domain/sealed.ts";
import type { Context } from "./context.ts";
import { refuseUnservable, sealDestination } from "./delivery/destination.ts";
import { mayHoldToken } from "./identity/access.ts";
import { hasRole } from "./identity/authenticate.ts";
import { withoutCredentials } from "./read/intake-view.ts";
import { markOf, type OperationResponse } from "./read/response.ts";
import { runWrite } from "./write/run-write.ts";
import type { WriteCall } from "./write/write-spec.ts";

/** Gives one submission another destination; the definition it was created with stays unchanged. */
export async function changeDestination(
  context: Context,
  call: WriteCall & { destination: DestinationInput },
): Promise<OperationResponse<ChangeDestinationResponse>> {
  const { destination } = call;
  const { deps } = context;
  return await runWrite(context, call, {
    operation: "changeDestination",
    actorRequired: true,
    actsOnLocked: true,
    needsNoVersion: true,
    authorize({ principal, submission }) {
      if (principal !== undefined && hasRole(principal, "admin") && mayHoldToken(principal, submission)) return;
      throw new ContractError("forbidden", "Changing a destination needs the role admin.", { nextActions: askAdmin() });
    },
    decide(submission, decideContext) {
      const seal = (checked: Destination): Sealed => {
        refuseUnservable(deps, checked);
        return sealDestination(deps.sealer, submission, checked);
      };
      return decideChangeDestination(submission, { destination, seal }, decideContext);
    },
    body: (shown) => ({ ...markOf(shown), destination: shownDestination(destination) }),
  });
}

const shownDestination = ({ kind, url, name }: DestinationInput): ChangeDestinationResponse["destination"] => ({
  kind,
  ...(url !== undefined && { url: withoutCredentials(url) }),
  ...(name !== undefined && { name }),
});
