import type { ContractPromise } from "./promise.ts";

export const STORES_PROMISES = [
  {
    id: "STORES-DOWN",
    says: "While a store is down, calls that need it are a retryable 503 with Retry-After, and execute nothing.",
  },
  {
    id: "STORES-BACK",
    says: "When it is back, service resumes within two seconds and without a restart; no acknowledged write is lost or duplicated.",
  },
  {
    id: "STORES-FAILOVER",
    says: "When a synchronous standby takes the primary's place, writes succeed again within 30 seconds; no acknowledged write is lost or duplicated.",
  },
  {
    id: "STORES-POOLER",
    says: "With a direct URL as well, a pooler in transaction mode works like a direct connection; one that doesn't sync commits is refused.",
  },
  {
    id: "STORES-DOUBT",
    says: "A write whose outcome is unknown is reported as such, and its retry with the same key is executed once.",
  },
  {
    id: "STORES-READYZ",
    says: "/readyz reports which store is down and why, and how far its clock is from the server's.",
  },
  { id: "STORES-COPY-WHOLE", says: "A copy to PostgreSQL contains everything: every list, feed position and history." },
  { id: "STORES-COPY-CONTINUES", says: "Tokens, keys and idempotency keys of the file keep working in its copy." },
  {
    id: "STORES-COPY-AGAIN",
    says: "An interrupted copy continues when it is run again; an unfinished one is not served.",
  },
  {
    id: "STORES-COPY-REFUSES",
    says: "A copy is refused with an explanation from a file in use, to a database with data, and with a secret that does not match.",
  },
  {
    id: "STORES-INSTANCES-ONE-KEY",
    says: "Creates with one idempotency key on many instances at once make one submission.",
  },
  { id: "STORES-INSTANCES-ONE-WINNER", says: "Of writes with one token on many instances at once, one wins." },
  { id: "STORES-INSTANCES-ONE-SUBMIT", says: "Submits with one key on many instances at once execute once." },
  {
    id: "STORES-INSTANCES-KILLED",
    says: "Killing an instance under load loses no acknowledged write; the others continue.",
  },
  {
    id: "STORES-INSTANCES-PAUSED",
    says: "An instance that was paused and resumes late duplicates nothing, and overwrites nothing that was written meanwhile.",
  },
  {
    id: "STORES-INSTANCES-ONE-CLOCK",
    says: "The database's clock decides every expiry on all instances, however wrong their own clocks are.",
  },
  {
    id: "STORES-INSTANCES-ONE-COPY",
    says: "On any instance, a submission has one chain of versions, and nobody sees an older version than one already returned.",
  },
] as const satisfies readonly ContractPromise[];
