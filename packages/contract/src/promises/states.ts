import type { ContractPromise } from "./promise.ts";

/** §3: states. */
export const STATES_PROMISES = [
  {
    id: "STATES-CREATE",
    says: "A new submission is a draft, or in_progress if it has initial fields; version 1 either way.",
  },
  { id: "STATES-TABLE", says: "A submission moves only along the transition table." },
  { id: "STATES-TERMINAL", says: "finalized, cancelled and expired are final: no transition leads out of them." },
  { id: "STATES-REOPEN", says: "Setting fields on a rejected submission reopens it, and it can be submitted again." },
  { id: "STATES-REASONS-STAY", says: "The reasons of a rejection stay visible after the submission was reopened." },
  { id: "STATES-VALIDATE-KEEPS", says: "validate changes neither the version nor the token." },
  { id: "STATES-VALIDATE-RECORDS", says: "validate stores the state it determines, with an event." },
  { id: "STATES-VALIDATE-STALE", says: "validate with a stale token is a 409, as for a write." },
  { id: "STATES-LEAVES-AWAITING", says: "Setting fields leads from awaiting_input back to in_progress." },
  { id: "STATES-UPLOADS", says: "Announcing a file enters awaiting_upload; confirming the last one leaves it." },
  {
    id: "STATES-SUBMIT-FAILED",
    says: "A failed submit is a 422 that leaves the submission editable and its token current.",
  },
  {
    id: "STATES-SUBMIT-REASON",
    says: "A failed submit says missing, else upload_pending, else invalid, and lists all problems.",
  },
  { id: "STATES-EDITABLE", says: "validate and submit work in every editable state." },
  { id: "STATES-LOCKED-REVIEW", says: "A write while reviewers decide is a 409 needs_approval." },
  { id: "STATES-LOCKED-DELIVERY", says: "A write between submit and delivery is a 409 conflict." },
  {
    id: "STATES-ENDED-FINALIZED",
    says: "A write on a finalized submission is a 410 token_expired with reason finalized.",
  },
  { id: "STATES-ENDED-CANCELLED", says: "A write on a cancelled submission is a 410 cancelled." },
  { id: "STATES-ENDED-EXPIRED", says: "A write on an expired submission is a 410 expired." },
  { id: "STATES-ONLY-EDITABLE-EXPIRE", says: "What was submitted does not expire while it is reviewed or delivered." },
  { id: "STATES-MEND-TIME", says: "A rejection leaves at least 24 hours for corrections." },
  { id: "STATES-CANCEL", says: "Every state that is not final can be cancelled." },
  { id: "STATES-CANCEL-IN-FLIGHT", says: "Cancelling is a 409 while a delivery attempt is in flight." },
  { id: "STATES-CANCEL-FINALIZED", says: "Cancelling a finalized submission is a 409." },
  { id: "STATES-CANCEL-TWICE", says: "A second cancel is a 410 cancelled, even with the token that cancelled." },
  { id: "STATES-DECIDE-AGAIN", says: "A review or cancel that lost a race is decided again on the current state." },
  { id: "STATES-APPROVAL-VERSION", says: "An approval counts for the submitted version that the reviewer saw." },
  { id: "STATES-READS-ALWAYS", says: "By id, a submission and its events are readable in every state." },
  { id: "STATES-STORE-AT-ONCE", says: "With the store as destination, a submit submits and finalizes in one version." },
] as const satisfies readonly ContractPromise[];
