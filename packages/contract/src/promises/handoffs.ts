import type { ContractPromise } from "./promise.ts";

const LINKS = [
  {
    id: "HANDOFF-KINDS",
    says: "One operation creates session, direct, magic_link and qr hand-offs; session by default.",
  },
  { id: "HANDOFF-PATHS", says: "It can be called by id, by /resume/{token} and by /submissions/{token}." },
  {
    id: "HANDOFF-NO-ROTATION",
    says: "Creating, listing, opening and revoking hand-offs leave version and token unchanged.",
  },
  {
    id: "HANDOFF-EVENT",
    says: "handoff.link_issued has the kind, expiry and allowed actors of a hand-off, and no secret.",
  },
  {
    id: "HANDOFF-AT-REST",
    says: "Links, sessions and codes are not stored in clear, neither in the database nor in the history.",
  },
  { id: "HANDOFF-QR", says: "A QR code, as SVG or PNG, contains the link." },
  {
    id: "HANDOFF-DIRECT",
    says: "A direct link carries the current token, and options that would have no effect on it are refused.",
  },
  {
    id: "HANDOFF-LINK-FORMS",
    says: "Every form of link also answers clients that are not browsers; hints change nothing.",
  },
  {
    id: "HANDOFF-GET-SPENDS-NOTHING",
    says: "Opening a link by GET, however often, changes nothing and uses nothing up.",
  },
  {
    id: "HANDOFF-HOLDERS",
    says: "Only callers who may hold the token create hand-offs for others, list them and revoke them.",
  },
  { id: "HANDOFF-LIST", says: "The list shows the state of every hand-off and who opened it, and no secret." },
  { id: "HANDOFF-MANY", says: "A submission has at most 20 open hand-offs; one more is a 409." },
  {
    id: "HANDOFF-INTAKE",
    says: "Anyone who may read a submission gets what its form shows, as it was when the submission was created.",
  },
] as const satisfies readonly ContractPromise[];

const SESSIONS = [
  { id: "HANDOFF-EXCHANGE", says: "A POST exchanges the link's id for a session; the id itself opens nothing else." },
  { id: "HANDOFF-COOKIE", says: "The cookie is HttpOnly, SameSite=Strict, for its submission, and Secure behind TLS." },
  { id: "HANDOFF-ORIGIN", says: "A write by cookie needs the Origin of our own pages; otherwise it is a 403." },
  {
    id: "HANDOFF-HEADER",
    says: "A session requested as a header is returned once in the response, and no cookie is set.",
  },
  { id: "HANDOFF-ENOUGH", says: "A session is enough for every call on its submission that accepts a token." },
  {
    id: "HANDOFF-NO-TOKEN",
    says: "No response to a session contains a token, in body or header; its ETag is the version.",
  },
  {
    id: "HANDOFF-VERSION",
    says: "A session writes with If-Match or version; a write without either is a 428, with a stale one a 409.",
  },
  { id: "HANDOFF-SURVIVES", says: "A session survives the rotation of tokens." },
  {
    id: "HANDOFF-ACTORS",
    says: "A session acts as one of the allowed actors, identified, or as a human who names themselves; others get a 403.",
  },
  { id: "HANDOFF-HUMAN", says: "A human's session can fill in human-only fields." },
  { id: "HANDOFF-TTL", says: "A hand-off has its own time to live, within bounds and within its submission's." },
  { id: "HANDOFF-EXPIRED", says: "An expired session or link is a 410 that says how to get another." },
  { id: "HANDOFF-REVOKED", says: "After a revocation, the link and sessions of a hand-off are a 410, even in a race." },
  { id: "HANDOFF-EPOCH", says: "Revoking or reissuing the tokens of a submission ends its hand-offs." },
  {
    id: "HANDOFF-ENDS",
    says: "On an ended submission a session still reads; writes and links are a 410, and on an expired one reads too.",
  },
  { id: "HANDOFF-FOREIGN", says: "The session of another submission or tenant gets the same 404 as an unknown one." },
  { id: "HANDOFF-REPLAY", says: "A session gets its own recorded responses again, and nobody else's." },
  { id: "HANDOFF-RESUMED", says: "When an agent acts after a human's session, handoff.resumed is written." },
  {
    id: "HANDOFF-ONE-WINS",
    says: "Of two humans who write on one version one wins, and the other is shown what changed.",
  },
  {
    id: "HANDOFF-AUDITED",
    says: "Opening, reading and revoking are recorded in the token stream, with the hand-off's id.",
  },
  {
    id: "HANDOFF-COMPLETED",
    says: "A human says that their part is done: handoff.completed with what is missing, and an agent's wait ends on it.",
  },
  { id: "HANDOFF-ACTIVITY", says: "The record says which agent and which human wrote within the last 60 seconds." },
  {
    id: "HANDOFF-LATER",
    says: "A session can create a link for its own later use: for the same actor, and for nobody else.",
  },
  { id: "HANDOFF-FORGOTTEN", says: "Hand-offs are removed some time after they end." },
] as const satisfies readonly ContractPromise[];

const CODES = [
  { id: "HANDOFF-CODE", says: "A code opens one session, by POST, with the address that it was sent to." },
  {
    id: "HANDOFF-CODE-MAILED",
    says: "The code is only in the e-mail, not in the response of the call that creates it.",
  },
  { id: "HANDOFF-CODE-TRIES", says: "After 5 tries with a wrong code or address, a code no longer works." },
  { id: "HANDOFF-CODE-SAME", says: "Wrong code, wrong address and no such submission get the same response." },
  { id: "HANDOFF-CODE-RATE", says: "Code attempts and mails are limited per address and minute." },
  {
    id: "HANDOFF-MAILED",
    says: "Any kind of hand-off can be mailed: with the intake, what is missing and the time left.",
  },
  { id: "HANDOFF-NO-MAIL", says: "Without e-mail a magic link is a 503 that explains it, and nothing is recorded." },
] as const satisfies readonly ContractPromise[];

/** §9: hand-offs, and the sessions that they open. */
export const HANDOFF_PROMISES = [...LINKS, ...SESSIONS, ...CODES] as const satisfies readonly ContractPromise[];
