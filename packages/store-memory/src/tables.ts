import type { IntakeDefinition } from "@formbridge/contract";
import {
  type ApiKey,
  type Block,
  type ClaimedWebhook,
  endedAt,
  type FeedEvent,
  type Handoff,
  type Hash,
  type Incident,
  type Instant,
  isLive,
  type Job,
  type KeyRecord,
  type Publication,
  type ReviewLink,
  type ScopedKey,
  StoreDown,
  type StoredIntake,
  type SubmissionRow,
  type TokenRow,
} from "@formbridge/core";

export interface StoredSubmission {
  tenant: string;
  row: SubmissionRow;
  sealedToken: string;
  currentToken: Hash;
}

interface StoredEvent extends FeedEvent {
  tenant: string;
}

/** Everything that a backend holds. Never handed out: callers get copies. */
export interface Tables {
  now: () => Instant;
  closed: boolean;
  submissions: Map<string, StoredSubmission>;
  tokens: Map<Hash, TokenRow>;
  records: Map<string, KeyRecord>;
  events: StoredEvent[];
  lastPosition: number;
  eventsOf: Map<string, StoredEvent[]>;
  handoffs: Map<string, Handoff>;
  /** Maps the hash of a link or session to its hand-off. */
  sessions: Map<Hash, string>;
  reviewLinks: Map<string, ReviewLink>;
  jobs: Map<string, Job>;
  intakes: Map<string, StoredIntake>;
  definitions: Map<Hash, IntakeDefinition>;
  keys: Map<string, { key: ApiKey; revoked: boolean }>;
  webhooks: Map<string, ClaimedWebhook>;
  publications: Map<string, Publication>;
  incidents: Map<string, Incident>;
  blocks: Map<string, Block>;
  secretChecks: string[];
}

export function createTables(now: () => Instant): Tables {
  return {
    now,
    closed: false,
    submissions: new Map(),
    tokens: new Map(),
    records: new Map(),
    events: [],
    lastPosition: 0,
    eventsOf: new Map(),
    handoffs: new Map(),
    sessions: new Map(),
    reviewLinks: new Map(),
    jobs: new Map(),
    intakes: new Map(),
    definitions: new Map(),
    keys: new Map(),
    webhooks: new Map(),
    publications: new Map(),
    incidents: new Map(),
    blocks: new Map(),
    secretChecks: [],
  };
}

/** Joins parts into a map key so that different lists never collide. */
export const nameOf = (...parts: string[]): string => JSON.stringify(parts);

export const recordName = ({ tenant, intakeId, operation, hash }: ScopedKey): string =>
  nameOf(tenant, intakeId, operation, hash);

export function liveRecord(tables: Tables, record: KeyRecord): boolean {
  const submission = tables.submissions.get(record.submissionId)?.row.submission;
  return isLive(record, submission && endedAt(submission), tables.now());
}

export function findRecord(tables: Tables, key: ScopedKey): KeyRecord | undefined {
  const record = tables.records.get(recordName(key));
  return record !== undefined && liveRecord(tables, record) ? record : undefined;
}

/** Runs a query as a promise, if the backend is open, and returns a frozen copy. */
export async function answer<T>(tables: Tables, query: () => T): Promise<T> {
  if (tables.closed) throw new StoreDown("the store is closed", "not_applied");
  return frozen(structuredClone(query()));
}

/** Frozen so that code which mutates what a store returned fails here, in the first tests. */
function frozen<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}
