import type { ContractPromise } from "./promise.ts";

/** §8: delivery. */
export const DELIVERY_PROMISES = [
  {
    id: "DELIVERY-OUTBOX",
    says: "The work of delivering is committed with the submit or approval that asks for it: neither is there alone.",
  },
  {
    id: "DELIVERY-AT-LEAST-ONCE",
    says: "What was submitted arrives at least once, whatever dies on the way, and every request is signed.",
  },
  { id: "DELIVERY-FINALIZES", says: "A submission is finalized when its destination has taken it, never before." },
  {
    id: "DELIVERY-SAME-BODY",
    says: "Every attempt carries the same delivery id and, word for word, the same body.",
  },
  {
    id: "DELIVERY-RETRIED",
    says: "A failed attempt is tried again at the times of the destination's policy, and not before a time that it asks for.",
  },
  {
    id: "DELIVERY-GIVEN-UP",
    says: "After the last attempt the submission stays as it is, says why, and waits for somebody to start it again.",
  },
  { id: "DELIVERY-RESTARTED", says: "A delivery that was given up can be started again, with all its attempts." },
  { id: "DELIVERY-CANCEL", says: "A cancel during an attempt is refused, and nothing is sent after a cancel." },
  {
    id: "DELIVERY-ONE-OUTCOME",
    says: "Of several workers that hold one delivery, after a pause or a crash, only the latest commits its outcome.",
  },
  { id: "DELIVERY-DOWN-TIME", says: "What became due while no worker ran is done when one runs again, once." },
  { id: "DELIVERY-FAIR", says: "A destination that is slow keeps no other destination waiting." },
  {
    id: "DELIVERY-WAIT",
    says: "A submit or an approval waits up to a second, or what Prefer: wait asks for, for the first attempt, and tells what came of it.",
  },
  {
    id: "DELIVERY-WAIT-RECORDED",
    says: "The caller and every retry of a submit get one answer, also when the delivery ends while they wait, or later; only one that was given up is told as that.",
  },
  {
    id: "DELIVERY-SECRETS",
    says: "A delivery is signed with the definition's secret, also with the one that took its place, or with one of the server's.",
  },
  { id: "DELIVERY-ESCALATES", says: "A gate that has waited too long says so once, at its time." },
] as const satisfies readonly ContractPromise[];
