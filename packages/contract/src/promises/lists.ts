import type { ContractPromise } from "./promise.ts";

/** What a caller who pages through a list can rely on. */
export const LISTS_PROMISES = [
  { id: "LISTS-NEED-A-KEY", says: "Lists need a key: without one, or with a resume token alone, they are a 401." },
  { id: "LISTS-NEWEST-FIRST", says: "Submissions are listed newest first." },
  { id: "LISTS-LIMIT-DEFAULT", says: "A page has 50 items unless the caller asks for another number up to 1,000." },
  {
    id: "LISTS-COMPLETE",
    says: "The pages of a list show every item once, whatever is added while somebody pages through it.",
  },
  { id: "LISTS-LAST-PAGE", says: "The last page has no token for a next one." },
  { id: "LISTS-TOKEN-ENOUGH", says: "A page token carries its query: no other parameter is needed." },
  {
    id: "LISTS-TOKEN-MATCH",
    says: "A parameter sent with a page token must be the one that the token was made with, or it is a 400.",
  },
  {
    id: "LISTS-TOKEN-TAMPERED",
    says: "A page token that was changed, forged or signed by others is a 400 with an explanation.",
  },
  {
    id: "LISTS-TOKEN-EXPIRED",
    says: "A page token lives 24 hours, or as configured; then it is a 400 with an explanation.",
  },
  { id: "LISTS-TOKEN-OTHER-LIST", says: "A page token of one list opens no other." },
  {
    id: "LISTS-TOKEN-STATELESS",
    says: "Any instance with the same secret serves the next page, also after a restart.",
  },
  {
    id: "LISTS-TOKEN-NO-RIGHTS",
    says: "A page token gives no rights: what its holder may see is checked again on each page.",
  },
  {
    id: "LISTS-TOKEN-HOLDER",
    says: "A page token works only for the caller that it was issued to; for any other it is a 400 with an explanation.",
  },
  {
    id: "LISTS-TOKEN-ONE-REFUSAL",
    says: "Whatever is wrong with a page token, the response is the same 400, which says to start again without it.",
  },
  { id: "LISTS-TOKEN-RENEWED", says: "The lifetime of a page token starts again with each page." },
  {
    id: "LISTS-TOKEN-NOTHING-PERSONAL",
    says: "A page token is readable and names nobody: neither its holder nor the actor that the list is about.",
  },
  {
    id: "LISTS-SUMMARY",
    says: "Items are summaries: id, intake, state, version, times, actors, number of missing fields.",
  },
  { id: "LISTS-FIELDS", says: "Values are included with fields=true, with sensitive ones masked." },
  { id: "LISTS-NO-TOKENS", says: "No list shows a resume token or an API key." },
  { id: "LISTS-FILTERS", says: "Lists can be filtered by intake, state and creating actor, alone and together." },
  { id: "LISTS-TIME-RANGE", says: "`from` is inclusive and `until` exclusive, on the time of creation." },
  {
    id: "LISTS-EVENTS",
    says: "The list of events can be filtered by intake, stream, types and times, and pages like the others.",
  },
  {
    id: "LISTS-EXPORT",
    says: "With Accept: application/x-ndjson a list is sent whole, one item per line, page by page as the client reads it.",
  },
  {
    id: "LISTS-EXPORT-RIGHTS",
    says: "An export checks the caller on every page: a key that is revoked meanwhile gets no further page, and no clean end.",
  },
  {
    id: "LISTS-TOTAL",
    says: "A list has a total, counted for its first page and the same on later ones. It is the number of items that the caller may see, or absent if that would take reading them all.",
  },
  {
    id: "LISTS-TOTAL-BOUND",
    says: "A list is counted up to a limit, which is a setting; beyond it the total is at least that many, and totalIsEstimate is set.",
  },
  {
    id: "LISTS-CSV",
    says: "With Accept: text/csv the submissions of one intake are sent whole: fixed columns, one per leaf of its current schema, and one for what has no column of its own.",
  },
  {
    id: "LISTS-CSV-SAFE",
    says: "A CSV export is quoted by RFC 4180, and no text in it is read as a formula: one that could be begins with an apostrophe.",
  },
  {
    id: "LISTS-CSV-MASKED",
    says: "A CSV export shows no more than the list does: the same submissions, with sensitive values masked.",
  },
  {
    id: "LISTS-CSV-ONE-INTAKE",
    says: "A CSV export without an intakeId, or with a pageToken, is a 400 with an explanation.",
  },
  {
    id: "LISTS-HANDOFFS",
    says: "GET /handoffs lists the hand-offs of all submissions for an admin, newest first, by intake, kind and status, and pages like the others.",
  },
  { id: "LISTS-INTAKES-AND-KEYS", says: "The lists of intakes and keys page by the same rules." },
] as const satisfies readonly ContractPromise[];
