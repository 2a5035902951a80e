/**
 * A change as it goes to whoever writes it: one flat array of texts, numbers and nulls, since copying such an array from thread to
 * thread costs a fraction of what nested objects cost. `encode-change.ts` makes it.
 *
 *   head · audit events · jobs · dropped jobs · review links · hand-offs · recorded answer · erasure
 *
 * The head is of one length and says how many follow of each.
 */
import type { EventStream } from "@formbridge/contract";
import type { Hash, Instant, KeyedOperation } from "@formbridge/core";
import type { RestingTexts } from "./resting-events.ts";

export type Column = string | number | null;
export type Flat = Column[];

export type Head = [
  /** null: the submission must be new. */
  expectedRevision: number | null,
  notAfter: Instant | null,
  submissionId: string,
  tenant: string,
  intakeId: string,
  createdById: string,
  createdAt: Instant,
  definition: Hash,
  state: string,
  editable: 0 | 1,
  expiresAt: Instant,
  warnAt: Instant | null,
  endedAt: Instant | null,
  version: number,
  revision: number,
  /** null: the current token stays. */
  sealedToken: string | null,
  sealedFields: string | null,
  doc: string,
  tokenHash: Hash | null,
  tokenEpoch: number,
  tokenIssuedAt: Instant,
  tokenExpiresAt: Instant,
  /** `RestingTexts` of the submission stream. */
  events: number,
  eventTexts: string,
  eventHashes: string,
  eventsSaid: string,
  audit: number,
  jobs: number,
  droppedJobs: number,
  links: number,
  handoffs: number,
  records: 0 | 1,
  erasures: 0 | 1,
];
const HEAD = 33;
const DOC = 17;

/** The document that a change writes. */
export const docIn = (flat: Flat): string => (flat as Column[] as unknown as Head)[DOC];

/**
 * Its place in the chain is known only where it is written: `before` and `after` are the text that its hash covers, cut there. The
 * rest is as `resting-events.ts` has it, `digests` those of its actor and payload.
 */
export type AuditColumns = [
  before: string,
  after: string,
  stream: EventStream,
  told: string,
  digests: string,
  said: string,
];
export type JobColumns = [key: string, kind: string, lane: string, runAt: Instant];
export type LinkColumns = [linkId: string, submissionId: string, hash: Hash, forgetAfter: Instant, doc: string];
export type HandoffColumns = [
  handoffId: string,
  submissionId: string,
  forgetAfter: Instant,
  doc: string,
  /** JSON: what it is found by. */
  hashes: string,
];
export type RecordColumns = [
  operation: KeyedOperation,
  hash: Hash,
  /** Fingerprint of the record that this one may replace. */
  replaces: Hash | null,
  fingerprint: Hash,
  principal: string,
  carriedVersion: number,
  failed: 0 | 1,
  answer: string,
  answerBy: Instant | null,
  expiresAt: Instant,
  keepAfterEndMs: number | null,
];
export type ErasureColumns = [
  erasedAt: Instant | null,
  /** JSON: ids of the events that stay whole. */
  keptEvents: string,
  fingerprint: Hash,
  principal: string,
  answer: string,
];

/** The columns of `submissions` that indexes are made of and that change over a submission's life. */
export interface Moments {
  state: string;
  expiresAt: Instant;
  warnAt: Instant | null;
  endedAt: Instant | null;
}

export interface FlatChange extends Moments {
  expectedRevision: number | null;
  notAfter: Instant | null;
  submissionId: string;
  tenant: string;
  intakeId: string;
  createdById: string;
  createdAt: Instant;
  definition: Hash;
  editable: 0 | 1;
  version: number;
  revision: number;
  sealedToken: string | null;
  sealedFields: string | null;
  doc: string;
  token: { hash: Hash; epoch: number; issuedAt: Instant; expiresAt: Instant } | undefined;
  events: RestingTexts;
  audit: AuditColumns[];
  jobs: JobColumns[];
  droppedJobs: string[];
  links: LinkColumns[];
  handoffs: HandoffColumns[];
  record: RecordColumns | undefined;
  erasure: ErasureColumns | undefined;
}

const WIDTH = { audit: 6, job: 4, link: 5, handoff: 5, record: 11, erasure: 5 } as const;

export function decodeChange(flat: Flat): FlatChange {
  const head = flat as Column[] as unknown as Head;
  let at = HEAD;
  function rows<Row>(count: number, width: number): Row[] {
    const found: Row[] = [];
    for (let row = 0; row < count; row++, at += width) found.push(flat.slice(at, at + width) as Row);
    return found;
  }
  const [tokenHash, epoch, issuedAt, expiresAt] = [head[18], head[19], head[20], head[21]];
  return {
    expectedRevision: head[0],
    notAfter: head[1],
    submissionId: head[2],
    tenant: head[3],
    intakeId: head[4],
    createdById: head[5],
    createdAt: head[6],
    definition: head[7],
    state: head[8],
    editable: head[9],
    expiresAt: head[10],
    warnAt: head[11],
    endedAt: head[12],
    version: head[13],
    revision: head[14],
    sealedToken: head[15],
    sealedFields: head[16],
    doc: head[DOC],
    token: tokenHash === null ? undefined : { hash: tokenHash, epoch, issuedAt, expiresAt },
    events: { count: head[22], events: head[23], hashes: head[24], said: head[25] },
    audit: rows<AuditColumns>(head[26], WIDTH.audit),
    jobs: rows<JobColumns>(head[27], WIDTH.job),
    droppedJobs: rows<[key: string]>(head[28], 1).map(([key]) => key),
    links: rows<LinkColumns>(head[29], WIDTH.link),
    handoffs: rows<HandoffColumns>(head[30], WIDTH.handoff),
    record: rows<RecordColumns>(head[31], WIDTH.record)[0],
    erasure: rows<ErasureColumns>(head[32], WIDTH.erasure)[0],
  };
}
