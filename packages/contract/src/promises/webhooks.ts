import type { ContractPromise } from "./promise.ts";

/** §7: push by webhook subscription. */
export const WEBHOOK_PROMISES = [
  {
    id: "WEBHOOK-WANTED",
    says: "A webhook is sent the events of its tenant from its making on, by type and intake; by default the submission stream of all intakes.",
  },
  {
    id: "WEBHOOK-BODY",
    says: "A message has type, timestamp and, as data, the event as GET /events shows it, and goes by the event's id.",
  },
  {
    id: "WEBHOOK-ORDER",
    says: "The events of a submission are sent in order: none before the one ahead of it was taken.",
  },
  { id: "WEBHOOK-ASIDE", says: "An event that is not taken holds back no other submission's." },
  {
    id: "WEBHOOK-COMPLETE",
    says: "As long as no worker dies or pauses, each event is taken once, however many workers there are and whatever failed before.",
  },
  {
    id: "WEBHOOK-CRASH",
    says: "What was sent and not written down when a worker died is sent again, under the same id.",
  },
  { id: "WEBHOOK-PAUSED", says: "A worker that paused beyond its lease moves no webhook back." },
  {
    id: "WEBHOOK-RETRIED",
    says: "A failed message is tried again with growing delays, and not before a time that the receiver asks for.",
  },
  {
    id: "WEBHOOK-DISABLED",
    says: "A receiver that takes nothing, or wants no more, has its webhook disabled: it says why, and is sent nothing.",
  },
  { id: "WEBHOOK-ENABLED", says: "Enabled again, a webhook goes on where it stopped: nothing is lost." },
  { id: "WEBHOOK-FAIR", says: "A webhook whose receiver does not answer keeps no other webhook waiting." },
  {
    id: "WEBHOOK-DELETED",
    says: "A webhook that is deleted is gone, and is sent nothing more than what is on its way.",
  },
  {
    id: "WEBHOOK-SECRET",
    says: "A webhook's secret is given or made, shown once, and sealed at rest; no other answer, event or message has it.",
  },
  { id: "WEBHOOK-ROTATED", says: "A secret that was replaced signs beside the new one for a day, and then no more." },
  {
    id: "WEBHOOK-DEFINED",
    says: "eventWebhooks of a definition are webhooks of its intake: there from its registration until it names them no longer.",
  },
  {
    id: "WEBHOOK-ADMIN",
    says: "Webhooks are an admin's business, of its tenant and its intakes; to anybody else they are not there.",
  },
  { id: "WEBHOOK-BAD-INPUT", says: "What can't be a webhook is refused, and a tenant has so many at most." },
  { id: "WEBHOOK-LISTED", says: "Webhooks are listed page by page, with how they fare." },
] as const satisfies readonly ContractPromise[];
