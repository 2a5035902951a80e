import type { ContractPromise } from "./promise.ts";

/** What harvesters, and those whose records are harvested, can rely on. */
export const OAI_PROMISES = [
  {
    id: "OAI-VALID",
    says: "Every response of /oai is valid by the schemas of OAI-PMH 2.0, of Dublin Core, and of our own format, which is served too.",
  },
  { id: "OAI-VERBS", says: "All six verbs work by GET and as a form by POST, with the same response." },
  {
    id: "OAI-ERRORS",
    says: "Each of the eight error codes is returned where the protocol requires it; an illegal request is not echoed.",
  },
  {
    id: "OAI-OPT-IN",
    says: "A submission is published when it is finalized and its intake was published when it was created; never otherwise.",
  },
  {
    id: "OAI-ONLY-NAMED-FIELDS",
    says: "A field that is sensitive, or that the intake does not name for publication, is never published.",
  },
  {
    id: "OAI-SENSITIVE-REFUSED",
    says: "A definition that would publish a sensitive field is refused at registration, with the location of the problem.",
  },
  { id: "OAI-DC", says: "oai_dc is made from the intake's mapping; an element is repeated for each value of a list." },
  { id: "OAI-FULL-RECORD", says: "The format formbridge has the named fields with their paths and types." },
  { id: "OAI-SETS", says: "Each published intake is a set, and set narrows a list to it." },
  { id: "OAI-IDENTIFIER", says: "A record's identifier is oai:{domain}:{submissionId}; the domain is a setting." },
  { id: "OAI-DATES", says: "Datestamps are to the second; from and until are inclusive, to the second or the day." },
  {
    id: "OAI-TOMBSTONES",
    says: "An erased submission is a deleted record with a new datestamp, permanently, even when nothing else is left of it.",
  },
  {
    id: "OAI-WITHDRAWN",
    says: "The records of an intake that is no longer published are deleted at once, and come back with it.",
  },
  {
    id: "OAI-PAGES",
    says: "cursor is the number of records before a page, a token is given when more follow, an empty one closes the list.",
  },
  { id: "OAI-PAGE-SIZE", says: "The number of records on a page is a setting, 100 by default." },
  { id: "OAI-TOKEN-TWICE", says: "The same resumption token gives the same page again." },
  {
    id: "OAI-TOKEN-REFUSED",
    says: "A token that was changed, has expired or is of another verb is badResumptionToken.",
  },
  {
    id: "OAI-HORIZON",
    says: "A list ends before responseDate, so a harvest from the last responseDate misses nothing of the same second.",
  },
  { id: "OAI-CHANGING", says: "A harvest while records change misses no record that did not." },
  {
    id: "OAI-RETRY-AFTER",
    says: "Beyond a configured number of concurrent harvests, the response is a 503 with Retry-After.",
  },
  {
    id: "OAI-ESCAPED",
    says: "Whatever a value contains, the response is well-formed: characters that XML can't represent are replaced.",
  },
  {
    id: "OAI-HARVESTERS",
    says: "Standard harvesters collect everything, despite 503s, several instances in turn, and a restart.",
  },
] as const satisfies readonly ContractPromise[];
