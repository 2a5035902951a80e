import type { Destination, DestinationInput } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import { checkDestination } from "../intake/check-destination.ts";
import { Problems } from "../intake/definition-problems.ts";
import type { Sealed } from "../sealed.ts";
import type { Submission } from "../submission.ts";
import { aboutOf, endedError } from "../tokens/refuse-ended.ts";
import { type DecideContext, type Decision, refuse } from "./decision.ts";

/** The next attempt goes to the new destination; one in flight isn't cancelled. `seal` may refuse. */
export function decideChangeDestination(
  submission: Submission,
  { destination, seal }: { destination: DestinationInput; seal(checked: Destination): Sealed },
  { now }: Pick<DecideContext, "now">,
): Decision {
  const ended = endedError(submission, now);
  if (ended !== undefined) return refuse(ended);
  const problems = new Problems();
  const isChecked = checkDestination(destination, problems);
  if (destination.kind === "store") {
    problems.add(["destination", "kind"], "can't be store: that keeps a submission here when it is submitted");
  }
  const { list } = problems;
  if (!isChecked || list.length > 0) {
    const words = `The destination can't be used: ${list.map(({ message }) => message).join("; ")}.`;
    return refuse(new ContractError("invalid", words, { fields: list, about: aboutOf(submission) }));
  }
  return {
    events: [{ type: "destination.changed", kind: destination.kind, sealed: seal(destination) }],
    token: "keep",
  };
}
