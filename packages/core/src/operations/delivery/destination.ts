import type { Destination } from "@formbridge/contract";
import { ContractError } from "../../domain/error.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import type { Sealed } from "../../domain/sealed.ts";
import type { Submission } from "../../domain/submission.ts";
import type { Sealer } from "../../ports/sealer.ts";
import type { Deps } from "../deps.ts";

type Bound = Pick<Submission, "tenant" | "submissionId">;
export const boundToDestination = ({ tenant, submissionId }: Bound): string => `destination:${tenant}:${submissionId}`;

export const sealDestination = (sealer: Sealer, submission: Bound, destination: Destination): Sealed =>
  sealer.seal(JSON.stringify(destination), boundToDestination(submission));

export const openDestination = (sealer: Sealer, submission: Bound, sealed: Sealed): Destination =>
  JSON.parse(sealer.open(sealed, boundToDestination(submission))) as Destination;

/** A submission's destination: its own if it was given one, else its definition's. */
export const destinationOf = (sealer: Sealer, submission: Submission, intake: CompiledIntake): Destination =>
  submission.destination === undefined
    ? intake.definition.destination
    : openDestination(sealer, submission, submission.destination);

/** Refuses a callback that isn't registered in this process: every delivery to it would fail. */
export function refuseUnservable({ courier }: Deps, destination: Destination): void {
  if (destination.kind !== "callback" || courier.serves?.(destination) !== false) return;
  const message = `destination.name isn't a callback registered in this process: ${destination.name}`;
  throw new ContractError("invalid", `The destination can't be used: ${message}.`, {
    fields: [{ path: "destination.name", code: "invalid_value", message }],
  });
}
