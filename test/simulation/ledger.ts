import { type Change, type Loaded, type LoadQuery, sha256 } from "@formbridge/core";
import type { IntakeName } from "./cast.ts";
import type { Effect } from "./effects.ts";
import { checkSide, mintedIn } from "./handovers.ts";
import { carriedBy, judge, meaningOf, principalOf } from "./judge.ts";
import {
  type Applied,
  type Flight,
  isDue,
  isOpen,
  KEEP,
  type Kind,
  type Memory,
  must,
  SKEW,
  type Sub,
  type Token,
} from "./model.ts";
import { checkEvents, checkRow, FIRST_HEAD, toldBy } from "./row-check.ts";

/** The model of everything that was written, and the checks on every read and every write. */
export interface Ledger {
  subs: Map<string, Sub>;
  tokens: Map<string, Token>;
  memories: Map<string, Memory>;
  /** From the hash of a link or session to its submission. */
  doors: Map<string, string>;
  replays: Map<string, Replays>;
}

/** The replays of a submission: those in its history, and those in responses. */
export interface Replays {
  written: number;
  answered: number;
  /** The counts that replayed creates returned. */
  counts: Set<number>;
}

export function replaysIn({ replays }: Ledger, id: string): Replays {
  const known = replays.get(id) ?? { written: 0, answered: 0, counts: new Set<number>() };
  replays.set(id, known);
  return known;
}

export const createLedger = (): Ledger => ({
  subs: new Map(),
  tokens: new Map(),
  memories: new Map(),
  doors: new Map(),
  replays: new Map(),
});

const scopeOf = (tenant: string, intake: string, key: { operation: string; hash: string }): string =>
  `${tenant}|${intake}|${key.operation}|${key.hash}`;

function isAlive({ subs }: Ledger, memory: Memory, now: number): boolean {
  if (now < memory.expiresAt) return true;
  const endedAt = subs.get(memory.sub)?.endedAt;
  return memory.outlives && (endedAt === undefined || now < endedAt + KEEP);
}

function aliveAt(ledger: Ledger, scope: string, now: number): Memory | undefined {
  const memory = ledger.memories.get(scope);
  return memory !== undefined && isAlive(ledger, memory, now) ? memory : undefined;
}

/** A read: what the store returns must be what was written. The call's view moves here. */
export function observeLoad(ledger: Ledger, flight: Flight, seen: { query: LoadQuery; loaded: Loaded }): void {
  const { query, loaded } = seen;
  const { by, key } = query;
  const { now } = loaded;
  flight.view = { ...flight.view, now };
  // Where a conflict is recorded, when the key belongs to another submission.
  if ("id" in by && isKeyedWrite(flight) && flight.view.sub !== undefined && flight.view.sub.id !== by.id) return;
  if ("intake" in by) {
    flight.began = now;
    rememberKey(ledger, flight, { loaded, scope: key && scopeOf("default", by.intake, key) });
    return;
  }
  const token = "token" in by ? ledger.tokens.get(by.token) : undefined;
  const isGone = token !== undefined && loaded.presented === undefined;
  must(!isGone || now - SKEW > token.expiresAt, "a token was removed before its expiry");
  const behind = "session" in by ? subBehind(ledger, by.session) : undefined;
  must(
    !("session" in by) || (behind === undefined) === (loaded.handoff === undefined),
    "the store returned a hand-off other than the one written",
  );
  const sub = "id" in by ? ledger.subs.get(by.id) : isGone ? undefined : (behind ?? ledger.subs.get(token?.sub ?? ""));
  const visible = sub !== undefined && (!("id" in by) || sub.tenant === by.tenant) ? sub : undefined;
  const shown = loaded.submission?.submission;
  must(
    shown?.revision === visible?.revision,
    () => `the store returned revision ${shown?.revision}, but ${visible?.revision} was written`,
  );
  const { sub: _sub, token: _token, ...rest } = flight.view;
  flight.view = { ...rest, ...(visible && { sub: visible }), ...(!isGone && token && { token }) };
  if (visible === undefined) return;
  flight.looks.set(visible.id, now);
  flight.round ??= visible.round;
  rememberKey(ledger, flight, { loaded, scope: key && scopeOf(visible.tenant, visible.intake, key) });
}

const isKeyedWrite = ({ call }: Flight): boolean =>
  call.key !== undefined && (call.kind === "setFields" || call.kind === "submit");

/** The submission that a link or session leads to, as long as its hand-off still has it. */
function subBehind({ subs, doors }: Ledger, hash: string): Sub | undefined {
  const sub = subs.get(doors.get(hash) ?? "");
  const isThere = sub?.handed.some(({ link, sessions }) => link === hash || sessions.some((one) => one.hash === hash));
  return isThere === true ? sub : undefined;
}

function rememberKey(ledger: Ledger, flight: Flight, seen: { loaded: Loaded; scope: string | undefined }): void {
  if (seen.scope === undefined) return;
  const alive = aliveAt(ledger, seen.scope, seen.loaded.now);
  must(
    (alive === undefined) === (seen.loaded.record === undefined),
    "the store returned a record other than the one written",
  );
  const { memory: _, ...rest } = flight.view;
  flight.view = { ...rest, ...(alive && { memory: alive }) };
}

/** Somebody else holds the key. */
export function observeTaken(ledger: Ledger, flight: Flight, { change, now }: { change: Change; now: number }): void {
  const { row, tenant, key } = change;
  const alive = key && aliveAt(ledger, scopeOf(tenant, row.submission.intakeId, key.ref), now);
  must(alive !== undefined, "a key was reported as taken that nobody holds");
  flight.view = { ...flight.view, memory: alive };
}

/** A write that happened. */
export function observeCommit(
  ledger: Ledger,
  flight: Flight,
  { change, now }: { change: Change; now: number },
): Applied {
  const before = ledger.subs.get(change.row.submission.submissionId);
  const { by, effect } = effectOfChange(ledger, flight, { change, before });
  if (by === "replay") replaysIn(ledger, change.row.submission.submissionId).written += toldBy(change).length;
  const after = nextSub({ flight, change, before, effect });
  checkRow(change, before, after);
  checkEvents(change, before);
  checkSide(change, before, after);
  for (const { link, sessions } of after.handed) {
    for (const hash of [link, ...sessions.map((session) => session.hash)]) ledger.doors.set(hash, after.id);
  }
  ledger.subs.set(after.id, after);
  if (change.token !== undefined) rotate(ledger, change, before);
  if (change.key !== undefined) remember(ledger, { flight, change, before, now, failed: effect.refusal !== undefined });
  const applied: Applied = {
    by,
    after,
    ...(before && { before }),
    ...(change.token && { tokenHash: change.token.hash }),
    ...(effect.refusal && { refusal: effect.refusal }),
  };
  flight.applied.push(applied);
  return applied;
}

function isLapsed({ tokens }: Ledger, { token }: Sub, now: number): boolean {
  const current = tokens.get(token);
  return current !== undefined && now >= current.expiresAt + SKEW;
}

const HANDING: readonly Kind[] = ["handoff", "openSession", "revokeHandoff"];

function effectOfChange(
  ledger: Ledger,
  flight: Flight,
  { change, before }: { change: Change; before: Sub | undefined },
): { by: Applied["by"]; effect: Effect } {
  const types = toldBy(change).map(({ type }) => type);
  const now = flight.looks.get(change.row.submission.submissionId) ?? flight.view.now;
  if (types.includes("submission.expired")) {
    must(before !== undefined && isDue(before, now), "a submission expired before its deadline");
    return { by: "system", effect: { rotates: true, next: { state: "expired", endedAt: before.expiresAt } } };
  }
  if (types.includes("submission.ttl_warning")) {
    must(before !== undefined && isOpen(before), "a warning was given about a submission that can't expire");
    return { by: "system", effect: { rotates: false, next: {} } };
  }
  if (types.includes("submission.replayed")) {
    must(
      types.every((type) => type === "submission.replayed"),
      `a replay wrote ${types.join(", ")}`,
    );
    const counts = toldBy(change).filter(({ payload }) => payload?.operation === "create").length;
    return { by: "replay", effect: { rotates: false, next: { replayCount: (before?.replayCount ?? 0) + counts } } };
  }
  const audited = change.events.map(({ type }) => type).join();
  if (types.length + change.side.length === 0 && change.token === undefined && audited === "token.expired") {
    must(before !== undefined && isLapsed(ledger, before, now), "a token lapsed before its expiry");
    return { by: "system", effect: { rotates: false, next: {} } };
  }
  const { kind } = flight.call;
  if (kind === "flush" || kind === "sweep") {
    must(types.length === 0 && change.token === undefined, `a ${kind} wrote ${types.join(", ")}`);
    return { by: "system", effect: { rotates: false, next: {} } };
  }
  if (kind === "requestUpload") flight.call.uploadId = change.row.submission.uploads.at(-1)?.uploadId ?? "";
  if (HANDING.includes(kind)) flight.call.minted = mintedIn(change);
  const { sub: _, memory, ...view } = flight.view;
  const stand = {
    ...view,
    now: kind === "create" ? flight.began : now,
    ...(before && { sub: before }),
    ...(kind !== "create" && memory && { memory }),
  };
  const verdict = judge(flight, stand);
  must(
    kind !== "review" || before?.round === flight.round,
    "a review was counted for a version that the reviewer never saw",
  );
  must(verdict.type === "do", () => `${kind} was written, though the contract says ${JSON.stringify(verdict)}`);
  return { by: "caller", effect: verdict.effect };
}

function nextSub(made: { flight: Flight; change: Change; before: Sub | undefined; effect: Effect }): Sub {
  const { flight, change, before, effect } = made;
  const { submissionId: id, intakeId } = change.row.submission;
  const base: Sub = before ?? {
    id,
    tenant: change.tenant,
    intake: intakeId as IntakeName,
    state: "draft",
    version: 0,
    revision: 0,
    epoch: 1,
    revoked: false,
    fields: {},
    createdBy: flight.call.player.actor,
    createdAt: 0,
    ttlMs: 0,
    expiresAt: 0,
    replayCount: 0,
    written: 0,
    uploads: [],
    gate: 0,
    approvals: [],
    delivering: false,
    givenUp: false,
    round: 0,
    seq: 0,
    head: FIRST_HEAD,
    token: "",
    handed: [],
  };
  return {
    ...base,
    ...effect.next,
    version: base.version + (effect.rotates ? 1 : 0),
    written: writtenIn(change),
    revision: base.revision + 1,
    seq: base.seq + toldBy(change).length,
    head: toldBy(change).at(-1)?.hash ?? base.head,
    token: change.token?.hash ?? base.token,
  };
}

function writtenIn({ row }: Change): number {
  const { attribution, rejections } = row.submission;
  const versions = [attribution.paths, attribution.removed].flatMap((paths) => Object.values(paths));
  return Math.max(0, ...versions, ...rejections.map(({ version }) => version));
}

function rotate({ tokens }: Ledger, change: Change, before: Sub | undefined): void {
  const { token, row } = change;
  if (token === undefined) return;
  must(!tokens.has(token.hash), "a token was issued twice");
  const { submissionId: sub, version, epoch } = row.submission;
  const old = before && tokens.get(before.token);
  if (old !== undefined) tokens.set(old.hash, { ...old, rotatedAt: row.submission.token.issuedAt });
  const { hash, expiresAt } = token;
  must(
    !isOpen({ state: row.submission.state } as Sub) || expiresAt <= row.submission.expiresAt,
    "a token outlives its submission",
  );
  tokens.set(hash, { hash, sub, version, epoch, expiresAt });
}

function remember(
  ledger: Ledger,
  made: { flight: Flight; change: Change; before: Sub | undefined; now: number; failed: boolean },
): void {
  const { flight, change, before, now, failed } = made;
  const { key, row, tenant } = change;
  if (key === undefined) return;
  const { submissionId: sub, intakeId } = row.submission;
  const scope = scopeOf(tenant, intakeId, key.ref);
  const old = aliveAt(ledger, scope, now);
  const view = { ...flight.view, ...(before && { sub: before }) };
  const carried = flight.call.kind === "create" ? 0 : carriedBy(flight.call, view);
  const mends = old?.failed === true && old.sub === sub && carried > old.carried;
  must(old === undefined || mends, "two requests with one key were both executed");
  flight.recorded = {
    scope,
    sub,
    principal: principalOf(flight.call, { tenant, before }),
    carried,
    meaning: meaningOf(flight.call, view),
    failed,
    expiresAt: key.expiresAt,
    outlives: key.keepAfterEndMs !== undefined,
  };
  ledger.memories.set(scope, flight.recorded);
}

export const hashOf = (token: string): string => sha256(token);
