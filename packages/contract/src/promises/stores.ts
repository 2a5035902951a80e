import type { ContractPromise } from "./promise.ts";

export const STORES_PROMISES = [
  {
    id: "STORES-DOWN",
    says: "While a store is down, calls that need it are a retryable 503 with Retry-After, and execute nothing.",
  },
  {
    id: "STORES-BACK",
    says: "When it is back, service goes on within two seconds and without a restart; no answered write is lost or doubled.",
  },
  {
    id: "STORES-FAILOVER",
    says: "When a synchronous standby takes the primary's place, writes succeed again within 30 seconds; no answered write is lost or doubled.",
  },
  {
    id: "STORES-POOLER",
    says: "With a direct URL beside it, a pooler in transaction mode is as good as a connection; one that doesn't sync commits is refused.",
  },
  {
    id: "STORES-DOUBT",
    says: "A write whose outcome nobody was told is answered as such, and its retry with the same key happens once.",
  },
  {
    id: "STORES-READYZ",
    says: "/readyz tells which store is down and why, and how far its clock is from the server's.",
  },
  { id: "STORES-COPY-WHOLE", says: "A copy to PostgreSQL has everything: every list, feed position and history." },
  { id: "STORES-COPY-CONTINUES", says: "Tokens, keys and idempotency keys of the file go on in its copy." },
  {
    id: "STORES-COPY-AGAIN",
    says: "A copy that was interrupted goes on when it is run again; half of one is not served.",
  },
  {
    id: "STORES-COPY-REFUSES",
    says: "A copy is refused, in words, from a file in use, to a database with data, and with a secret that does not fit.",
  },
  {
    id: "STORES-INSTANCES-ONE-KEY",
    says: "Creates with one idempotency key on many instances at once make one submission.",
  },
  { id: "STORES-INSTANCES-ONE-WINNER", says: "Of writes with one token on many instances at once, one wins." },
  { id: "STORES-INSTANCES-ONE-SUBMIT", says: "Submits with one key on many instances at once execute once." },
  {
    id: "STORES-INSTANCES-KILLED",
    says: "An instance that is killed under load takes no answered write with it; the others go on.",
  },
  {
    id: "STORES-INSTANCES-PAUSED",
    says: "An instance that stood still and goes on late doubles nothing, and writes over nothing that came meanwhile.",
  },
  {
    id: "STORES-INSTANCES-ONE-CLOCK",
    says: "The database's clock decides every expiry, on all instances alike, however far their own clocks are off.",
  },
  {
    id: "STORES-INSTANCES-ONE-COPY",
    says: "Whichever instances are asked, a submission has one chain of versions, and nobody sees an older one than was told before.",
  },
] as const satisfies readonly ContractPromise[];
