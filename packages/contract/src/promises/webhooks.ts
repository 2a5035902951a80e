import type { ContractPromise } from "./promise.ts";

/** §7: push by webhook subscription. */
export const WEBHOOK_PROMISES = [
  {
    id: "WEBHOOK-WANTED",
    says: "A webhook gets its tenant's events from its creation on, filtered by type and intake; by default the submission stream of all intakes.",
  },
  {
    id: "WEBHOOK-BODY",
    says: "A message has type, timestamp and, as data, the event as GET /events shows it; its id is the event's.",
  },
  {
    id: "WEBHOOK-ORDER",
    says: "The events of a submission are sent in order: none before the previous one was accepted.",
  },
  { id: "WEBHOOK-ASIDE", says: "An event that is refused does not delay events of other submissions." },
  {
    id: "WEBHOOK-COMPLETE",
    says: "As long as no worker dies or pauses, each event is accepted once, however many workers there are and whatever failed before.",
  },
  {
    id: "WEBHOOK-CRASH",
    says: "Messages that were sent but not recorded when a worker died are sent again, with the same id.",
  },
  { id: "WEBHOOK-PAUSED", says: "A worker that paused beyond its lease does not move a webhook's position back." },
  {
    id: "WEBHOOK-RETRIED",
    says: "A failed message is retried with growing delays, and not before the time that the receiver asks for.",
  },
  {
    id: "WEBHOOK-DISABLED",
    says: "When a receiver accepts nothing, or asks to stop, its webhook is disabled: it shows the reason, and nothing more is sent.",
  },
  { id: "WEBHOOK-ENABLED", says: "A webhook that is enabled again continues where it stopped: nothing is lost." },
  { id: "WEBHOOK-FAIR", says: "A webhook whose receiver does not respond does not delay other webhooks." },
  {
    id: "WEBHOOK-DELETED",
    says: "A deleted webhook is gone, and gets nothing more than what is in flight.",
  },
  {
    id: "WEBHOOK-SECRET",
    says: "A webhook's secret is given or generated, shown once, and sealed at rest; no other response, event or message contains it.",
  },
  {
    id: "WEBHOOK-ROTATED",
    says: "A secret that was replaced is used together with the new one for a day, and then no more.",
  },
  {
    id: "WEBHOOK-DEFINED",
    says: "eventWebhooks of a definition are webhooks of its intake, from its registration until it no longer names them.",
  },
  {
    id: "WEBHOOK-ADMIN",
    says: "Only admins manage webhooks, of their tenant and intakes; for everybody else they do not exist.",
  },
  { id: "WEBHOOK-BAD-INPUT", says: "An invalid webhook is refused, and the number of webhooks per tenant is limited." },
  { id: "WEBHOOK-LISTED", says: "Webhooks are listed page by page, with their progress." },
] as const satisfies readonly ContractPromise[];
