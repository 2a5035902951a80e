import type { ContractPromise } from "./promise.ts";

/** §7 and §12: how long data is kept, and what remains of it. */
export const RETENTION_PROMISES = [
  {
    id: "RETENTION-ERASES",
    says: "A submission that has ended for as long as its intake says keeps no value, name, token, link or recorded answer.",
  },
  {
    id: "RETENTION-FILES",
    says: "Erasing takes a submission's files, confirmed or not; nobody can fetch them or send more of them afterwards.",
  },
  {
    id: "RETENTION-TERM",
    says: "How long is told by the definition it was created with, else by a setting, which counts for old ones too; else it is kept.",
  },
  { id: "RETENTION-ONLY-ENDED", says: "What has not ended is not erased, however old it is." },
  {
    id: "RETENTION-READS",
    says: "By id, an erased submission tells its state, its times and when it was erased; its tokens are unknown.",
  },
  { id: "RETENTION-CHAIN", says: "The history of an erased submission still verifies, and tells who erased it." },
  { id: "RETENTION-KEYS", says: "A retry of an erased request is a 409 that names nothing, and is never done again." },
  {
    id: "RETENTION-EVENTS",
    says: "The history of an erased submission stays 90 days after its last event; then the submission is unknown.",
  },
  {
    id: "RETENTION-ARCHIVE",
    says: "With archive: true the whole submission is written as one document before it is erased.",
  },
  {
    id: "RETENTION-ARCHIVE-FIRST",
    says: "What can't be archived is not erased, and the log says so; later it is archived and erased.",
  },
  { id: "RETENTION-ARCHIVE-FILE", says: "A document is there whole or not at all, for its owner's eyes only." },
  {
    id: "RETENTION-REQUEST",
    says: "An admin erases an ended submission at once, with its archived document; one that has not ended is a 409.",
  },
  { id: "RETENTION-REQUEST-ADMIN", says: "Nobody but an admin of its tenant can erase a submission." },
  { id: "RETENTION-CACHES", says: "No cache gives an erased submission's token away, or keeps its recorded answers." },
  {
    id: "ERASURE-ACTOR",
    says: "After an actor was erased, no submission, event, hand-off, recorded answer, API key or file names them: what they created is erased, and what others created keeps its values without their names, comments, addresses and files. Every history still verifies.",
  },
  {
    id: "ERASURE-WAITS",
    says: "A submission of somebody else that has not ended is left as it is and reported; erasing again after its end completes it.",
  },
  { id: "ERASURE-TENANT", says: "An erasure reaches one tenant, and only the kind of actor that it names." },
  {
    id: "ERASURE-ADMIN",
    says: "Only an admin who is not limited to some intakes can erase an actor; the report names nobody.",
  },
  {
    id: "ERASURE-CONFIGURED",
    says: "The actor's API keys are revoked; keys and intakes that still name the actor are listed in the report.",
  },
  { id: "ERASURE-ARCHIVE", says: "Archived documents of an erased actor are removed, or no longer name them." },
  { id: "ERASURE-AGAIN", says: "An erasure that was interrupted is completed by repeating it." },
  {
    id: "ERASURE-COMMAND",
    says: "`formbridge erase` does the same from the command line, and exits with 2 while something is left to erase.",
  },
  {
    id: "RETENTION-DEADLINES-ONCE",
    says: "Every deadline counts once, from its own moment, also when nobody ran at that time.",
  },
] as const satisfies readonly ContractPromise[];
