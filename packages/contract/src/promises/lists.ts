import type { ContractPromise } from "./promise.ts";

/** What whoever walks a list may rely on. */
export const LISTS_PROMISES = [
  { id: "LISTS-NEED-A-KEY", says: "Lists need a key: without one, or with a resume token alone, they are a 401." },
  { id: "LISTS-NEWEST-FIRST", says: "Submissions are listed newest first." },
  { id: "LISTS-LIMIT-DEFAULT", says: "A page has 50 items unless the caller asks for another number up to 1,000." },
  {
    id: "LISTS-COMPLETE",
    says: "The pages of a list show every item once, whatever is added while somebody walks them.",
  },
  { id: "LISTS-LAST-PAGE", says: "The last page has no token for a next one." },
  { id: "LISTS-TOKEN-ENOUGH", says: "A page token carries its query: no other parameter is needed." },
  {
    id: "LISTS-TOKEN-MATCH",
    says: "A parameter beside a page token must be the one that it was made with, or it is a 400.",
  },
  { id: "LISTS-TOKEN-TAMPERED", says: "A page token that was changed, forged or signed by others is a clear 400." },
  { id: "LISTS-TOKEN-EXPIRED", says: "A page token lives 24 hours, or as set; then it is a clear 400." },
  { id: "LISTS-TOKEN-OTHER-LIST", says: "A page token of one list opens no other." },
  {
    id: "LISTS-TOKEN-STATELESS",
    says: "Any instance with the same secret serves the next page, also after a restart.",
  },
  {
    id: "LISTS-TOKEN-NO-RIGHTS",
    says: "A page token gives no rights: whoever uses it sees what their own key may see.",
  },
  {
    id: "LISTS-SUMMARY",
    says: "Items are summaries: id, intake, state, version, times, actors, number of missing fields.",
  },
  { id: "LISTS-FIELDS", says: "Values come with fields=true, and sensitive ones masked." },
  { id: "LISTS-NO-TOKENS", says: "No list shows a resume token or an API key." },
  { id: "LISTS-FILTERS", says: "Intake, state and creating actor narrow a list, alone and together." },
  { id: "LISTS-TIME-RANGE", says: "`from` is inclusive and `until` exclusive, on the time of creation." },
  { id: "LISTS-EVENTS", says: "The list of events takes intake, stream, types and times, and pages like the others." },
  { id: "LISTS-INTAKES-AND-KEYS", says: "The lists of intakes and keys page by the same rules." },
] as const satisfies readonly ContractPromise[];
