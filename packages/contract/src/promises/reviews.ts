import type { ContractPromise } from "./promise.ts";

const QUEUE = [
  {
    id: "REVIEWS-QUEUE",
    says: "GET /reviews shows what is waiting at which gate, since when, and how many have approved.",
  },
  {
    id: "REVIEWS-QUEUE-OWN",
    says: "It shows what this key may decide now: at its gates, not its own work, not what it has approved.",
  },
  {
    id: "REVIEWS-QUEUE-PAGES",
    says: "It is sorted oldest first, and each page reads a bounded number of submissions.",
  },
  { id: "REVIEWS-QUEUE-ROLES", says: "It is for the roles reviewer and admin, within the key's intakes and tenant." },
  {
    id: "REVIEWS-ONE-PERSON",
    says: "One address is one person, with any key or link: it approves once, and not its own work.",
  },
  {
    id: "REVIEWS-HUMANS",
    says: "Only humans named by the gate decide; agents if it allows them, admins if it names them.",
  },
  {
    id: "REVIEWS-REASSIGNED",
    says: "An admin can name other reviewers for a waiting gate, with a reason; an event is written, and the new reviewers are notified and decide.",
  },
  {
    id: "REVIEWS-REFUSED",
    says: "A review by somebody else, by the same person twice, or of something that waits for none is refused and changes nothing.",
  },
] as const satisfies readonly ContractPromise[];

const ESCALATION = [
  {
    id: "REVIEWS-ESCALATED",
    says: "After review.escalated the people in escalateTo may decide too; reviewState and the queue show it.",
  },
  {
    id: "REVIEWS-ESCALATED-ONCE",
    says: "Each gate that is reached escalates once, at its own time, even if no worker ran then.",
  },
  {
    id: "REVIEWS-DEFINITIONS",
    says: "A gate that names nobody, a wrong address, an escalation that can't happen or a rule that can't run is refused.",
  },
] as const satisfies readonly ContractPromise[];

const LINKS = [
  { id: "REVIEWS-LINK", says: "Each address named by a gate is mailed its own link when the gate is reached." },
  {
    id: "REVIEWS-LABEL",
    says: "A gate's label is what people see: in mails, the queue, records and refusals.",
  },
  {
    id: "REVIEWS-LINK-SHOWS",
    says: "GET shows the submission, with sensitive values, and what can be decided; it uses nothing up.",
  },
  {
    id: "REVIEWS-LINK-DECIDES",
    says: "POST decides as the person that the link was mailed to, identified, not declared.",
  },
  { id: "REVIEWS-LINK-ONCE", says: "A link decides once, even in a race; a second use is a 410 that explains it." },
  {
    id: "REVIEWS-LINK-OVER",
    says: "A link is a 410 that gives the reason once its gate was decided, its submission has ended or it has expired.",
  },
  {
    id: "REVIEWS-LINK-UNKNOWN",
    says: "A malformed link is a 400, an unknown one a 404, and a link opens nothing else.",
  },
  {
    id: "REVIEWS-LINK-AT-REST",
    says: "Review links are not stored in clear, neither in the database nor in the history.",
  },
  {
    id: "REVIEWS-LINK-ESCALATED",
    says: "The people in escalateTo are mailed a link when the gate escalates, and not before.",
  },
  { id: "REVIEWS-LINK-RATE", says: "Unknown review links count as failed lookups of their address." },
  { id: "REVIEWS-LINK-FORGOTTEN", says: "Review links are removed some time after they end." },
] as const satisfies readonly ContractPromise[];

const SAYINGS = [
  {
    id: "REVIEWS-FIELD-REASONS",
    says: "A rejection can say what to change in single fields; the record, the history and the mail show it.",
  },
  { id: "REVIEWS-COMMENT", says: "An approval may have a comment, which the next reviewers and the history see." },
  { id: "REVIEWS-LINK-INTAKE", says: "A review link returns how to render the submission, as a form link does." },
  {
    id: "REVIEWS-LINK-HISTORY",
    says: "A review link shows the history of its submission, sensitive values masked, without who used which token.",
  },
  { id: "REVIEWS-LINK-BARRED", says: "A review link says why its holder can't decide, before they try." },
] as const satisfies readonly ContractPromise[];

const NOTICES = [
  { id: "NOTICES-REJECTED", says: "A rejection is mailed with its reasons to the person who submitted." },
  { id: "NOTICES-FINISHED", says: "A successful end is mailed to the person who submitted, once." },
  {
    id: "NOTICES-EXPIRING",
    says: "The warning before an open submission expires is mailed to the people working on it.",
  },
  {
    id: "NOTICES-ADDRESS",
    says: "Mail goes only to a verified address: a key's actor's, or the one that opened a magic link.",
  },
  { id: "NOTICES-PASSED", says: "A notice that is out of date by the time it would be sent is not sent." },
  { id: "NOTICES-RETRIED", says: "Mail that is not accepted is retried for about a day, and delays no call." },
  { id: "NOTICES-NO-MAIL", says: "Without a mail server nobody is notified, and nothing fails." },
  {
    id: "NOTICES-SAFE",
    says: "Mail contains no values of fields and no secret except its link; what others wrote is text, and a subject is one line.",
  },
  {
    id: "NOTICES-HOOK",
    says: "FORMBRIDGE_NOTIFY_URL gets the same notices as signed webhooks, retried with one id, without addresses or values.",
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
