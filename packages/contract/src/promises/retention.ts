import type { ContractPromise } from "./promise.ts";

/** §7 and §12: how long data is kept, and what remains of it. */
export const RETENTION_PROMISES = [
  {
    id: "RETENTION-ERASES",
    says: "Once its retention period is over, an ended submission keeps no value, name, token, link or recorded response.",
  },
  {
    id: "RETENTION-FILES",
    says: "Erasing removes a submission's files, confirmed or not; nobody can fetch them or send more of them afterwards.",
  },
  {
    id: "RETENTION-TERM",
    says: "The period comes from the definition that the submission was created with, or from a setting, which also applies to old ones; without either it is kept.",
  },
  { id: "RETENTION-ONLY-ENDED", says: "What has not ended is not erased, however old it is." },
  {
    id: "RETENTION-READS",
    says: "By id, an erased submission shows its state, its times and when it was erased; its tokens are unknown.",
  },
  { id: "RETENTION-CHAIN", says: "The history of an erased submission still verifies, and shows who erased it." },
  {
    id: "RETENTION-KEYS",
    says: "A retry of an erased request is a 409 that names nothing, and is never executed again.",
  },
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
    says: "A submission that can't be archived is not erased, and that is logged; later it is archived and erased.",
  },
  { id: "RETENTION-ARCHIVE-FILE", says: "A document exists completely or not at all, and only its owner can read it." },
  {
    id: "RETENTION-REQUEST",
    says: "An admin erases an ended submission at once, with its archived document; one that has not ended is a 409.",
  },
  { id: "RETENTION-REQUEST-ADMIN", says: "Nobody but an admin of its tenant can erase a submission." },
  { id: "RETENTION-CACHES", says: "No cache returns an erased submission's token, or keeps its recorded responses." },
  {
    id: "ERASURE-ACTOR",
    says: "After an actor was erased, no submission, event, hand-off, recorded response, API key or file names them: what they created is erased, and what others created keeps its values without their names, comments, addresses and files. Every history still verifies.",
  },
  {
    id: "ERASURE-WAITS",
    says: "A submission of somebody else that has not ended is left as it is and reported; erasing again after its end completes it.",
  },
  { id: "ERASURE-TENANT", says: "An erasure covers one tenant, and only the kind of actor that it names." },
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
    says: "Every deadline takes effect once, from its own time, even if no worker ran at that time.",
  },
] as const satisfies readonly ContractPromise[];
