import type { Handoff } from "../domain/handoffs/handoff.ts";
import type { Sealed } from "../domain/sealed.ts";
import type { Delivery, Submission } from "../domain/submission.ts";
import type { Webhook } from "../domain/webhooks/webhook.ts";
import type { SealedRow } from "../ports/sealed-rows.ts";
import type { Sealer } from "../ports/sealer.ts";
import { boundToDestination } from "./delivery/destination.ts";
import { boundToHandoff } from "./links/handoff-links.ts";
import { boundToAnswer, boundToExcerpt, boundToFields, boundToToken } from "./read/open-snapshot.ts";
import { boundToDefinition, type DefinitionAtRest } from "./seal-intakes.ts";
import { boundToWebhook } from "./webhooks/webhook-secrets.ts";

/** What to do with a sealed value and the context it is bound to. */
type Change = (sealed: Sealed, bound: string) => Sealed;
type Texts = SealedRow["texts"];

/** Applies a change to every sealed value of a row; the rest is copied. */
function changeSealed({ kind, texts }: SealedRow, change: Change): Texts {
  switch (kind) {
    case "submissions":
      return changeSubmission(texts, change);
    case "records": {
      const { tenant, submission_id: submissionId, answer } = texts;
      const place = { tenant: tenant ?? "", submissionId: submissionId ?? "" };
      // An erased record has no response.
      return { answer: answer ? change(answer, boundToAnswer(place)) : "" };
    }
    case "handoffs": {
      const handoff = docOf<Handoff>(texts);
      const { sealed } = handoff;
      return sealed === undefined ? {} : docWith({ ...handoff, sealed: change(sealed, boundToHandoff(handoff)) });
    }
    case "webhooks": {
      const webhook = docOf<Webhook>(texts);
      const bound = boundToWebhook(webhook);
      const secrets = webhook.secrets.map((secret) => ({ ...secret, sealed: change(secret.sealed, bound) }));
      return docWith({ ...webhook, secrets });
    }
    case "definitions": {
      const definition = JSON.parse(texts.definition ?? "null") as DefinitionAtRest;
      const { receivers } = definition;
      if (receivers === undefined) return {};
      const changed = change(receivers, boundToDefinition(texts.digest ?? ""));
      return { definition: JSON.stringify({ ...definition, receivers: changed }) };
    }
  }
}

function changeSubmission({ sealed_token: token, sealed_fields: fields, doc }: Texts, change: Change): Texts {
  const submission = docOf<Submission>({ doc: doc ?? null });
  const { destination, delivery } = submission;
  return {
    ...(token && { sealed_token: change(token, boundToToken(submission)) }),
    ...(fields && { sealed_fields: change(fields, boundToFields(submission)) }),
    ...docWith({
      ...submission,
      ...(destination !== undefined && { destination: change(destination, boundToDestination(submission)) }),
      ...(delivery?.attempts && { delivery: changeAttempts(delivery, submission, change) }),
    }),
  };
}

const changeAttempts = (delivery: Delivery, submission: Submission, change: Change): Delivery => ({
  ...delivery,
  attempts:
    delivery.attempts?.map((attempt) =>
      attempt.answer === undefined
        ? attempt
        : { ...attempt, answer: change(attempt.answer, boundToExcerpt(submission)) },
    ) ?? [],
});

const docOf = <Doc>({ doc }: Texts): Doc => JSON.parse(doc ?? "null") as Doc;
const docWith = (doc: object): Texts => ({ doc: JSON.stringify(doc) });

/** The texts of a row to replace so that the newest secret seals all of it; undefined if none. */
export function resealed(sealer: Sealer, row: SealedRow): Texts | undefined {
  let isOld = false;
  const texts = changeSealed(row, (sealed, bound) => {
    if (sealer.isNewest(sealed)) return sealed;
    isOld = true;
    return sealer.seal(sealer.open(sealed, bound), bound);
  });
  return isOld ? texts : undefined;
}

/** How many values of a row none of this server's secrets opens. */
export function countLost(sealer: Sealer, row: SealedRow): number {
  let lost = 0;
  changeSealed(row, (sealed) => {
    if (!sealer.knows(sealed)) lost += 1;
    return sealed;
  });
  return lost;
}
