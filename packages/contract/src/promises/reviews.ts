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
    id: "REVIEWS-HUMANS",
    says: "Only humans whom the gate names decide; agents where it allows them, admins where it names them.",
  },
  {
    id: "REVIEWS-REASSIGNED",
    says: "An admin names other reviewers for a waiting gate, with a reason and an event; they are asked, and decide.",
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

const LINKS = [
  { id: "REVIEWS-LINK", says: "Each address that a gate names is mailed a link of its own when the gate waits." },
  {
    id: "REVIEWS-LABEL",
    says: "A gate with a label is shown by it to people: in mails, the queue, records and refusals.",
  },
  {
    id: "REVIEWS-LINK-SHOWS",
    says: "GET shows the submission, sensitive values in clear, and what can be decided; it spends nothing.",
  },
  { id: "REVIEWS-LINK-DECIDES", says: "POST decides as the person that the link was mailed to, proven, not declared." },
  { id: "REVIEWS-LINK-ONCE", says: "A link decides once, also in a race; a second use is a 410 that says so." },
  {
    id: "REVIEWS-LINK-OVER",
    says: "A link of a gate that was decided, of a submission that is over, or past its time is a 410 that says which.",
  },
  {
    id: "REVIEWS-LINK-UNKNOWN",
    says: "A malformed link is a 400, an unknown one a 404, and a link opens nothing else.",
  },
  { id: "REVIEWS-LINK-AT-REST", says: "Review links stand nowhere in clear: not in the database, not in the history." },
  {
    id: "REVIEWS-LINK-ESCALATED",
    says: "Those of escalateTo are mailed a link when the gate escalates, and not before.",
  },
  { id: "REVIEWS-LINK-RATE", says: "Unknown review links count as failed look-ups of their address." },
  { id: "REVIEWS-LINK-FORGOTTEN", says: "Review links that are long over are swept away." },
] as const satisfies readonly ContractPromise[];

const SAYINGS = [
  {
    id: "REVIEWS-FIELD-REASONS",
    says: "A rejection says of single fields what to change; the record, the history and the mail have it.",
  },
  { id: "REVIEWS-COMMENT", says: "An approval may have a comment, which the next reviewers and the history see." },
  { id: "REVIEWS-LINK-INTAKE", says: "A review link shows how to draw the submission, as a form link does." },
  {
    id: "REVIEWS-LINK-HISTORY",
    says: "A review link shows the history of its submission, sensitive values masked, without who used which token.",
  },
  { id: "REVIEWS-LINK-BARRED", says: "A review link says why its holder can't decide, before they try." },
] as const satisfies readonly ContractPromise[];

const NOTICES = [
  { id: "NOTICES-REJECTED", says: "A rejection is mailed with its reasons to whoever submitted." },
  { id: "NOTICES-FINISHED", says: "The good end is mailed to whoever submitted, once." },
  { id: "NOTICES-EXPIRING", says: "The warning before the end of an open submission is mailed to who works on it." },
  {
    id: "NOTICES-ADDRESS",
    says: "Mail goes to an address that is proven: of a key's actor, or of whom a magic link was opened by.",
  },
  { id: "NOTICES-PASSED", says: "What has passed by the time that it would be told is not told." },
  { id: "NOTICES-RETRIED", says: "Mail that nobody takes is tried again for about a day, and delays no call." },
  { id: "NOTICES-NO-MAIL", says: "Without a mail server nobody is told, and nothing fails." },
  {
    id: "NOTICES-SAFE",
    says: "Mail holds no values of fields and no secret but its link; what others wrote is text, and a subject one line.",
  },
  {
    id: "NOTICES-HOOK",
    says: "FORMBRIDGE_NOTIFY_URL is told the same by signed webhooks, tried again with one id, without addresses or values.",
  },
  { id: "NOTICES-SMTP", says: "FORMBRIDGE_SMTP_URL names the mail server; a password is sent to it over TLS only." },
] as const satisfies readonly ContractPromise[];

/** §8: gates from a reviewer's point of view, and who is notified of what. */
export const REVIEWS_PROMISES = [
  ...QUEUE,
  ...ESCALATION,
  ...LINKS,
  ...SAYINGS,
  ...NOTICES,
] as const satisfies readonly ContractPromise[];
