import type { ContractPromise } from "./promise.ts";

const QUEUE = [
  { id: "REVIEWS-QUEUE", says: "GET /reviews tells what waits at which gate since when, and how many have approved." },
  {
    id: "REVIEWS-QUEUE-OWN",
    says: "It shows what this key may decide now: at its gates, not its own work, not what it has approved.",
  },
  {
    id: "REVIEWS-QUEUE-PAGES",
    says: "It comes oldest first, in pages that look over a bounded number of submissions each.",
  },
  { id: "REVIEWS-QUEUE-ROLES", says: "It is for the roles reviewer and admin, within the key's intakes and tenant." },
  {
    id: "REVIEWS-ONE-PERSON",
    says: "One address is one person, whichever key or link it comes by: it approves once, and not its own work.",
  },
  {
    id: "REVIEWS-REFUSED",
    says: "A review by a stranger, twice by one person, or of what waits for none is refused and changes nothing.",
  },
] as const satisfies readonly ContractPromise[];

const ESCALATION = [
  {
    id: "REVIEWS-ESCALATED",
    says: "From review.escalated on, those of escalateTo may decide too; reviewState and the queue show it.",
  },
  {
    id: "REVIEWS-ESCALATED-ONCE",
    says: "Each gate that is reached escalates once, at its own time, also when nobody ran jobs then.",
  },
  {
    id: "REVIEWS-DEFINITIONS",
    says: "A gate that names nobody, a wrong address, an escalation that never comes or a rule that can't run is refused.",
  },
] as const satisfies readonly ContractPromise[];

/** §8: gates, as reviewers meet them. */
export const REVIEWS_PROMISES = [...QUEUE, ...ESCALATION] as const satisfies readonly ContractPromise[];
