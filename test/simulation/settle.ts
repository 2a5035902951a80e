import { ContractError, StoreDown } from "@formbridge/core";
import { canonical, sameJson } from "./chain-check.ts";
import { discloses, judge, mayHold, type Sight, standing } from "./judge.ts";
import { hashOf, type Ledger, replaysIn } from "./ledger.ts";
import { type Applied, Crash, type Flight, isOver, type Memory, must, type Sub } from "./model.ts";

/** What agents, and callers with only a token, see instead of a sensitive value. */
const MASKED = { masked: true };
/** What a response contains instead of a lapsed token: no time is left. */
const saysLapsed = ({ warning }: { warning?: { timeRemaining: number } }): boolean => warning?.timeRemaining === 0;

export type Outcome = { body: Record<string, unknown> } | { error: unknown };

/** The end of a call: its response must follow from what it read and what it wrote. */
export function settle(flight: Flight, outcome: Outcome, ledger: Ledger): void {
  const { kind } = flight.call;
  const own = flight.applied.filter(({ by }) => by === "caller");
  must(own.length <= 1, `${kind} was executed ${own.length} times`);
  if (kind === "sweep" || kind === "flush" || kind === "list" || kind === "deliver") settleQuietly(flight, outcome);
  else if ("body" in outcome) settleAnswer(flight, outcome.body, ledger);
  else settleRefusal(flight, outcome.error, ledger);
}

function settleQuietly(flight: Flight, outcome: Outcome): void {
  // Notes that the store refused wait for the next flush.
  if ("body" in outcome || flight.fault !== undefined || flight.call.kind === "flush") return;
  const known = outcome.error instanceof ContractError;
  must(known, () => `${flight.call.kind} failed: ${describe(outcome)}`);
}

const describe = (outcome: { error: unknown }): string =>
  outcome.error instanceof Error ? `${outcome.error.message}\n${outcome.error.stack}` : String(outcome.error);

function settleAnswer(flight: Flight, body: Record<string, unknown>, ledger: Ledger): void {
  const { call, view, applied } = flight;
  const own = applied.find(({ by }) => by === "caller");
  if (own !== undefined) {
    must(own.refusal === undefined, `${call.kind} was refused, but returned success`);
    must(body._idempotent !== true, "an execution is marked as a replay");
    checkShown(flight, body, { sub: own.after });
    checkNewToken(flight, body, own);
    if (call.kind !== "create") sameDone(flight.recorded, { ...body, _idempotent: true });
    return;
  }
  const verdict = judge(flight, view);
  if (verdict.type === "read") {
    const { sub } = view;
    must(sub !== undefined, "something was read that doesn't exist");
    if (call.kind === "get") checkShown(flight, body, { sub, sight: verdict.sight });
    else {
      // A reader who takes over is recorded between the read and the page: more may have been written meanwhile.
      const shown = (body.events as unknown[]).length;
      const written = ledger.subs.get(sub.id)?.seq ?? 0;
      must(sub.seq <= shown && shown <= written, "getEvents does not show every event");
    }
    checkToken(flight, body.resumeToken, sub);
    return;
  }
  must(verdict.type === "replay", () => `${call.kind} succeeded, although the contract says ${canonical(verdict)}`);
  tally(ledger, verdict.memory);
  must(body._idempotent === true, "a replay is not marked as one");
  checkReplay(flight, { body, memory: verdict.memory }, ledger);
}

/** Replays are written together, by the first call: there are never more responses than events. */
function tally(ledger: Ledger, memory: Memory): void {
  const replays = replaysIn(ledger, memory.sub);
  replays.answered += 1;
  must(replays.answered <= replays.written, "a replay left no event in the history");
}

/** Only people get sensitive values: in a session, or with their own key. */
const seesSecrets = ({ call: { player } }: Flight): boolean =>
  player.visits === true || (player.apiKey !== undefined && player.actor.kind === "human");

function checkShown(
  flight: Flight,
  body: Record<string, unknown>,
  { sub, sight = "all" }: { sub: Sub; sight?: Sight },
) {
  const seen = [body.submissionId, body.state, body.version];
  must(
    body.submissionId === sub.id && body.state === sub.state && body.version === sub.version,
    () => `answered ${seen.join(" ")}, is ${sub.state} ${sub.version}`,
  );
  must(sight !== "none" || body.fields === undefined, "values were shown that must be withheld");
  if (body.fields === undefined) return;
  const isMasked = "secret" in sub.fields && (sight === "masked" || !seesSecrets(flight));
  const fields = isMasked ? { ...sub.fields, secret: MASKED } : sub.fields;
  must(sameJson(body.fields, fields), () => `answered fields ${canonical(body.fields)}, are ${canonical(fields)}`);
}

/** The token after a write: the one that this write issued, and only for callers who may hold it. */
function checkNewToken(flight: Flight, body: Record<string, unknown>, own: Applied): void {
  const { call } = flight;
  if (body.resumeToken === undefined) {
    const holds = own.before === undefined || mayHold(call.player, own.before) || isCurrent(flight, own.before);
    const isLapsed = own.before?.version === own.after.version && saysLapsed(body);
    const isGone = own.after.revoked || own.after.state === "expired" || isLapsed;
    must(!holds || isGone, `${call.kind} returned no token`);
    return;
  }
  must(
    hashOf(String(body.resumeToken)) === own.after.token,
    `${call.kind} returned a token other than the one it issued`,
  );
  if (own.before !== undefined)
    must(
      mayHold(call.player, own.before) || isCurrent(flight, own.before),
      `${call.kind} told a token to ${call.player.name}`,
    );
  must(!own.after.revoked, "a revoked token was returned");
}

const isCurrent = ({ view }: Flight, sub: Sub): boolean => standing(view.token, sub, view.now) === "current";

/** A token returned outside a write: the current one, for callers who may have it. */
function checkToken(flight: Flight, told: unknown, sub: Sub): void {
  if (told === undefined) return;
  const { call, view } = flight;
  must(hashOf(String(told)) === sub.token, "a token was returned that is not the current one");
  const stands = standing(view.token, sub, view.now);
  const may = stands === "current" || mayHold(call.player, sub) || (stands === "stale" && discloses(sub));
  must(may && !sub.revoked, `a token was returned to ${call.player.name}, who is ${stands}`);
}

/** Recorded responses are returned unchanged. The first one seen determines the others. */
function sameAnswer(memory: Memory | undefined, answer: unknown): void {
  if (memory === undefined) return;
  const text = canonical(answer);
  memory.answer ??= text;
  must(memory.answer === text, () => `replayed ${text}, recorded ${memory.answer}`);
}

/** Unchanged, except for the token, which is left out once it has lapsed, and for what only some callers see. */
function sameDone(memory: Memory | undefined, body: Record<string, unknown>): void {
  const { resumeToken, resumeUrl: _url, tokenExpiresAt: _until, fields, ...rest } = body;
  const { secret: _secret, ...open } = (fields ?? {}) as Record<string, unknown>;
  sameAnswer(memory, { ...rest, fields: open });
  if (memory === undefined || resumeToken === undefined) return;
  memory.token ??= resumeToken;
  must(memory.token === resumeToken, "a replay returned a token other than the recorded one");
}

function checkReplay(flight: Flight, replay: { body: Record<string, unknown>; memory: Memory }, ledger: Ledger): void {
  const { body, memory } = replay;
  must(body.submissionId === memory.sub, "a replay is about another submission");
  if (flight.call.kind !== "create") {
    sameDone(memory, body);
    const until = body.tokenExpiresAt;
    must(
      until === undefined || !isOver(Date.parse(String(until)), flight.view.now),
      "a replay returned a lapsed token",
    );
    return;
  }
  const { sub } = flight.view;
  const count = Number(body.replayCount);
  const { counts } = replaysIn(ledger, memory.sub);
  const written = ledger.subs.get(memory.sub)?.replayCount ?? 0;
  must(count > 0 && count <= written && !counts.has(count), "replayCount is not what was counted");
  counts.add(count);
  must(sub !== undefined, "a create was replayed whose submission doesn't exist");
  checkShown(flight, body, { sub });
  if (body.resumeToken !== undefined)
    must(hashOf(String(body.resumeToken)) === sub.token && !sub.revoked, "a replay returned a wrong token");
}

function settleRefusal(flight: Flight, error: unknown, ledger: Ledger): void {
  const { call, view, fault, applied } = flight;
  const own = applied.find(({ by }) => by === "caller");
  // A replay shares the commit, and the fault, of the first call.
  const isShared = error instanceof Error && (error.cause instanceof StoreDown || error instanceof Crash);
  if (fault === "crash") return;
  if ((fault === undefined || fault === "locked") && isShared && judge(flight, view).type === "replay") return;
  must(error instanceof ContractError, () => `${call.kind} failed: ${describe({ error })}`);
  const { type, about } = error;
  // A caller that timed out checks once more, and may find a record.
  const foundMore = fault === "locked" && type !== "locked";
  if (fault !== undefined && !foundMore) {
    const wanted = fault === "locked" ? "locked" : "service_unavailable";
    must(type === wanted, () => `a store that is ${fault} led to ${type}: ${error.message}`);
    must(fault === "unknown" || own === undefined, "something was changed that must stay unchanged");
    return;
  }
  if (view.sub !== undefined && about.resumeToken !== undefined && own === undefined && about.replayOf === undefined) {
    checkToken(flight, about.resumeToken, view.sub);
    must(!["expired", "cancelled", "token_expired"].includes(type), "a 410 tells a token");
  }
  if (own !== undefined) {
    must(own.refusal === type, () => `${call.kind} was written, but refused as ${type}: ${error.message}`);
    sameAnswer(flight.recorded, { type, message: error.message, fields: error.detail.fields });
    return;
  }
  const verdict = judge(flight, view);
  if (verdict.type === "replay" && about.replayOf !== undefined) {
    must(verdict.memory.failed, "a success was replayed as a refusal");
    tally(ledger, verdict.memory);
    sameAnswer(verdict.memory, { type, message: error.message, fields: error.detail.fields });
    return;
  }
  const isRight = verdict.type === "refuse" && verdict.error === type;
  must(
    isRight,
    () => `${call.kind} was refused as ${type} (${error.message}), but the contract says ${canonical(verdict)}`,
  );
}
