import {
  type ChainedEvent,
  type Change,
  type Committed,
  handoffsIn,
  type Instant,
  type KeyRef,
  type Loaded,
  type LoadQuery,
  laneOf,
  reviewLinksIn,
  type ScopedKey,
  type Store,
  StoreDown,
} from "@formbridge/core";
import { putHandoff } from "./handoffs.ts";
import { publish } from "./publications.ts";
import { eraseRest } from "./retention.ts";
import { findReviewLink } from "./review-links.ts";
import { answer, findRecord, liveRecord, nameOf, recordName, type StoredSubmission, type Tables } from "./tables.ts";

export function createStore(tables: Tables): Store {
  return {
    load: (query) => answer(tables, () => load(tables, query)),
    commit: (change) => {
      const given = structuredClone(change);
      return answer(tables, () => commit(tables, given));
    },
  };
}

function load(tables: Tables, { by, key }: LoadQuery): Loaded {
  if ("intake" in by) return loadByIntake(tables, by.intake, key);
  const presented = "token" in by ? tables.tokens.get(by.token) : undefined;
  const handoff = "session" in by ? tables.handoffs.get(tables.sessions.get(by.session) ?? "") : undefined;
  const link = "reviewLink" in by ? findReviewLink(tables, by.reviewLink) : undefined;
  const stored = tables.submissions.get("id" in by ? by.id : ((presented ?? handoff ?? link)?.submissionId ?? ""));
  const loaded: Loaded = { now: tables.now() };
  if (stored === undefined || ("tenant" in by && stored.tenant !== by.tenant)) return loaded;
  if (presented !== undefined) loaded.presented = presented;
  if (handoff !== undefined) loaded.handoff = handoff;
  if (link !== undefined) loaded.link = link;
  loaded.submission = { ...stored.row, sealedToken: stored.sealedToken };
  return withRecord(tables, loaded, key && { ...key, tenant: stored.tenant, intakeId: stored.row.submission.intakeId });
}

function loadByIntake(tables: Tables, id: string, key: KeyRef | undefined): Loaded {
  const loaded: Loaded = { now: tables.now() };
  const intake = tables.intakes.get(id);
  if (intake === undefined) return loaded;
  const { tenant, digest, retired } = intake;
  if (!retired) loaded.definition = { digest, tenant };
  return withRecord(tables, loaded, key && { ...key, tenant, intakeId: id });
}

function withRecord(tables: Tables, loaded: Loaded, key: ScopedKey | undefined): Loaded {
  const record = key && findRecord(tables, key);
  if (record !== undefined) loaded.record = record;
  return loaded;
}

function commit(tables: Tables, change: Change): Committed {
  const at = tables.now();
  const stored = tables.submissions.get(change.row.submission.submissionId);
  const refused = refusal(tables, change, stored);
  if (refused !== undefined) return refused;
  // Check everything that can fail before the first write: there is no transaction to roll back.
  const currentToken = change.token?.hash ?? stored?.currentToken;
  const sealedToken = change.token?.sealed ?? stored?.sealedToken;
  if (
    currentToken === undefined ||
    sealedToken === undefined ||
    (change.token && tables.tokens.has(change.token.hash))
  ) {
    throw new StoreDown("a new submission needs a token, and every token is new", "not_applied");
  }
  writeToken(tables, change, stored);
  tables.submissions.set(change.row.submission.submissionId, {
    tenant: change.tenant,
    row: change.row,
    sealedToken,
    currentToken,
  });
  for (const event of change.events) append(tables, change, event);
  writeRecord(tables, change, at);
  dropRecords(tables, change);
  for (const handoff of handoffsIn(change.side)) putHandoff(tables, handoff);
  for (const link of reviewLinksIn(change.side)) tables.reviewLinks.set(link.linkId, link);
  writeJobs(tables, change);
  publish(tables, change, at);
  if (change.erase === true || change.redact !== undefined) eraseRest(tables, change);
  return { kind: "committed", at };
}

function refusal(tables: Tables, change: Change, stored: StoredSubmission | undefined): Committed | undefined {
  const { expect, key, tenant, row } = change;
  const scope = scopeOf(change);
  const record = scope && findRecord(tables, scope);
  if (record !== undefined && record.fingerprint !== key?.replaces) return { kind: "key_taken", record };
  const asExpected =
    "absent" in expect
      ? stored === undefined
      : stored?.row.submission.revision === expect.revision && stored.tenant === tenant;
  if (!asExpected) {
    const query: LoadQuery = { by: { id: row.submission.submissionId, tenant } };
    return { kind: "stale", loaded: load(tables, key === undefined ? query : { ...query, key: key.ref }) };
  }
  const now = tables.now();
  if ("notAfter" in expect && expect.notAfter !== undefined && now > expect.notAfter) return { kind: "too_late", now };
  return undefined;
}

function scopeOf({ key, tenant, row }: Change): ScopedKey | undefined {
  return key && { ...key.ref, tenant, intakeId: row.submission.intakeId };
}

function writeToken(tables: Tables, { tenant, row, token }: Change, stored: StoredSubmission | undefined): void {
  if (token === undefined) return;
  const { submissionId, intakeId, version } = row.submission;
  const { issuedAt } = row.submission.token;
  const { hash, epoch, expiresAt } = token;
  const before = stored && tables.tokens.get(stored.currentToken);
  if (before !== undefined) before.rotatedAt = issuedAt;
  tables.tokens.set(hash, { hash, submissionId, tenant, intakeId, version, epoch, issuedAt, expiresAt });
}

function append(tables: Tables, { tenant, row }: Change, event: ChainedEvent): void {
  const { submissionId, intakeId } = row.submission;
  tables.lastPosition += 1;
  const stored = { position: tables.lastPosition, event, tenant, intakeId };
  tables.events.push(stored);
  const own = tables.eventsOf.get(submissionId);
  if (own === undefined) tables.eventsOf.set(submissionId, [stored]);
  else own.push(stored);
}

function writeRecord(tables: Tables, change: Change, at: Instant): void {
  const scope = scopeOf(change);
  if (scope === undefined || change.key === undefined) return;
  const { replaces: _, ...record } = change.key;
  const { submissionId } = change.row.submission;
  tables.records.set(recordName(scope), { ...record, submissionId, recordedAt: at });
}

function dropRecords(tables: Tables, { tenant, row, dropKeys = [], dropLiveKeys = [] }: Change): void {
  const { submissionId, intakeId } = row.submission;
  const drop = (ref: KeyRef, mayBeLive: boolean): void => {
    const name = recordName({ ...ref, tenant, intakeId });
    const record = tables.records.get(name);
    if (record?.submissionId !== submissionId) return;
    if (mayBeLive || !liveRecord(tables, record)) tables.records.delete(name);
  };
  for (const ref of dropKeys) drop(ref, false);
  for (const ref of dropLiveKeys) drop(ref, true);
}

function writeJobs(tables: Tables, { tenant, row, jobs, dropJobs }: Change): void {
  const { submissionId, intakeId } = row.submission;
  for (const key of dropJobs) tables.jobs.delete(nameOf(tenant, key));
  for (const { key, kind, runAt } of jobs) {
    const lane = laneOf(kind, intakeId);
    tables.jobs.set(nameOf(tenant, key), { tenant, submissionId, key, kind, lane, runAt, attempt: 0, leasedUntil: 0 });
  }
}
