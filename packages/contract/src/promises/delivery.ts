import type { ContractPromise } from "./promise.ts";

/** §8: delivery. */
export const DELIVERY_PROMISES = [
  {
    id: "DELIVERY-OUTBOX",
    says: "The delivery job is committed together with the submit or approval that causes it: both or neither.",
  },
  {
    id: "DELIVERY-AT-LEAST-ONCE",
    says: "A submission is delivered at least once, whichever process dies, and every request is signed.",
  },
  { id: "DELIVERY-FINALIZES", says: "A submission is finalized when its destination has accepted it, never before." },
  {
    id: "DELIVERY-SAME-BODY",
    says: "Every attempt has the same delivery id and exactly the same body.",
  },
  {
    id: "DELIVERY-RETRIED",
    says: "A failed attempt is retried on the schedule of the destination's policy, and not before the time that the receiver asks for.",
  },
  {
    id: "DELIVERY-GIVEN-UP",
    says: "After the last attempt the submission keeps its state, shows the reason, and waits for somebody to retry.",
  },
  { id: "DELIVERY-RESTARTED", says: "A delivery that was given up can be restarted, with all its attempts." },
  { id: "DELIVERY-CANCEL", says: "A cancel during an attempt is refused, and nothing is sent after a cancel." },
  {
    id: "DELIVERY-ONE-OUTCOME",
    says: "Of several workers that hold one delivery, after a pause or a crash, only the latest commits its outcome.",
  },
  { id: "DELIVERY-DOWN-TIME", says: "Jobs that became due while no worker ran are executed once when one runs again." },
  { id: "DELIVERY-FAIR", says: "A slow destination does not delay any other." },
  {
    id: "DELIVERY-WAIT",
    says: "A submit or an approval waits for the first attempt, for up to a second or as Prefer: wait says, and reports its outcome.",
  },
  {
    id: "DELIVERY-WAIT-RECORDED",
    says: "The first call and every retry of a submit get the same response, even if the delivery ends while they wait or later; only a delivery that was given up is reported as such.",
  },
  {
    id: "DELIVERY-SECRETS",
    says: "A delivery is signed with the definition's secret, also after it was replaced, or with one of the server's.",
  },
  { id: "DELIVERY-ESCALATES", says: "A gate that has waited too long escalates once, on time." },
] as const satisfies readonly ContractPromise[];
