import { ContractError } from "@formbridge/core";
import { canonical, sameJson } from "./chain-check.ts";
import { discloses, judge, mayHold, type Sight, standing } from "./judge.ts";
import { hashOf } from "./ledger.ts";
import { type Applied, type Flight, type Memory, must, type Sub } from "./model.ts";

const MASK = "[sensitive]";

export type Outcome = { body: Record<string, unknown> } | { error: unknown };

/** The end of a call: its answer must follow from what it saw and what it wrote. */
export function settle(flight: Flight, outcome: Outcome): void {
  const { kind } = flight.call;
  const own = flight.applied.filter(({ by }) => by === "caller");
  must(own.length <= 1, `${kind} was executed ${own.length} times`);
  if (kind === "sweep" || kind === "flush" || kind === "list" || kind === "deliver") settleQuietly(flight, outcome);
  else if ("body" in outcome) settleAnswer(flight, outcome.body);
  else settleRefusal(flight, outcome.error);
}

function settleQuietly(flight: Flight, outcome: Outcome): void {
  if ("body" in outcome || flight.fault !== undefined) return;
  const known = outcome.error instanceof ContractError;
  must(known, () => `${flight.call.kind} failed: ${describe(outcome)}`);
}

const describe = (outcome: { error: unknown }): string =>
  outcome.error instanceof Error ? `${outcome.error.message}\n${outcome.error.stack}` : String(outcome.error);

function settleAnswer(flight: Flight, body: Record<string, unknown>): void {
  const { call, view, applied } = flight;
  const own = applied.find(({ by }) => by === "caller");
  if (own !== undefined) {
    must(own.refusal === undefined, `${call.kind} was refused and answered as done`);
    must(body._idempotent !== true, "an execution calls itself a replay");
    checkShown(body, own.after);
    checkNewToken(flight, body, own);
    if (call.kind !== "create") sameAnswer(flight.recorded, { ...body, _idempotent: true });
    return;
  }
  const verdict = judge(flight, view);
  if (verdict.type === "read") {
    const { sub } = view;
    must(sub !== undefined, "something was read that is not there");
    if (call.kind === "get") checkShown(body, sub, verdict.sight);
    else must((body.events as unknown[]).length === sub.seq, "getEvents does not show every event");
    checkToken(flight, body.resumeToken, sub);
    return;
  }
  must(verdict.type === "replay", () => `${call.kind} was answered, though the contract says ${canonical(verdict)}`);
  must(
    applied.some(({ by }) => by === "replay"),
    "a replay left no line in the history",
  );
  must(body._idempotent === true, "a replay does not say that it is one");
  checkReplay(flight, { body, memory: verdict.memory });
}

function checkShown(body: Record<string, unknown>, sub: Sub, sight: Sight = "all"): void {
  const seen = [body.submissionId, body.state, body.version];
  must(
    body.submissionId === sub.id && body.state === sub.state && body.version === sub.version,
    () => `answered ${seen.join(" ")}, is ${sub.state} ${sub.version}`,
  );
  must(sight !== "none" || body.fields === undefined, "values were shown that are to be withheld");
  if (body.fields === undefined) return;
  const fields = sight === "masked" && "secret" in sub.fields ? { ...sub.fields, secret: MASK } : sub.fields;
  must(sameJson(body.fields, fields), () => `answered fields ${canonical(body.fields)}, are ${canonical(fields)}`);
}

/** The token after a write: the one that this very write issued, and only to those who may hold it. */
function checkNewToken(flight: Flight, body: Record<string, unknown>, own: Applied): void {
  const { call } = flight;
  if (body.resumeToken === undefined) {
    const holds = own.before === undefined || mayHold(call.player, own.before) || isCurrent(flight, own.before);
    must(!holds || own.after.revoked || own.after.state === "expired", `${call.kind} answered without its token`);
    return;
  }
  must(
    hashOf(String(body.resumeToken)) === own.after.token,
    `${call.kind} answered another token than the one it issued`,
  );
  if (own.before !== undefined)
    must(
      mayHold(call.player, own.before) || isCurrent(flight, own.before),
      `${call.kind} told a token to ${call.player.name}`,
    );
  must(!own.after.revoked, "a revoked token was told");
}

const isCurrent = ({ view }: Flight, sub: Sub): boolean => standing(view.token, sub, view.now) === "current";

/** A token that is told outside a write: the current one, to those who may learn it. */
function checkToken(flight: Flight, told: unknown, sub: Sub): void {
  if (told === undefined) return;
  const { call, view } = flight;
  must(hashOf(String(told)) === sub.token, "a token was told that is not the current one");
  const stands = standing(view.token, sub, view.now);
  const may = stands === "current" || mayHold(call.player, sub) || (stands === "stale" && discloses(sub));
  must(may && !sub.revoked, `a token was told to ${call.player.name}, who is ${stands}`);
}

/** Recorded answers are given again word for word. The first to see one tells the others what it must be. */
function sameAnswer(memory: Memory | undefined, answer: unknown): void {
  if (memory === undefined) return;
  const text = canonical(answer);
  memory.answer ??= text;
  must(memory.answer === text, () => `replayed ${text}, recorded ${memory.answer}`);
}

function checkReplay(flight: Flight, replay: { body: Record<string, unknown>; memory: Memory }): void {
  const { body, memory } = replay;
  must(body.submissionId === memory.sub, "a replay is about another submission");
  if (flight.call.kind !== "create") {
    sameAnswer(memory, body);
    return;
  }
  const after = flight.applied.find(({ by }) => by === "replay")?.after;
  must(after !== undefined && body.replayCount === after.replayCount, "replayCount is not what was counted");
  checkShown(body, after);
  if (body.resumeToken !== undefined)
    must(hashOf(String(body.resumeToken)) === after.token && !after.revoked, "a replay told a wrong token");
}

function settleRefusal(flight: Flight, error: unknown): void {
  const { call, view, fault, applied } = flight;
  const own = applied.find(({ by }) => by === "caller");
  if (fault === "crash") return;
  must(error instanceof ContractError, () => `${call.kind} failed: ${describe({ error })}`);
  const { type, about } = error;
  if (fault !== undefined) {
    const wanted = fault === "locked" ? "locked" : "service_unavailable";
    must(type === wanted, () => `a store that is ${fault} was answered with ${type}: ${error.message}`);
    must(fault === "unknown" || own === undefined, "nothing was to be changed, and it was");
    return;
  }
  if (view.sub !== undefined && about.resumeToken !== undefined && own === undefined && about.replayOf === undefined) {
    checkToken(flight, about.resumeToken, view.sub);
    must(!["expired", "cancelled", "token_expired"].includes(type), "a 410 tells a token");
  }
  if (own !== undefined) {
    must(own.refusal === type, () => `${call.kind} was written and refused as ${type}: ${error.message}`);
    sameAnswer(flight.recorded, { type, message: error.message, fields: error.detail.fields });
    return;
  }
  const verdict = judge(flight, view);
  if (verdict.type === "replay" && about.replayOf !== undefined) {
    must(verdict.memory.failed, "a success was replayed as a refusal");
    sameAnswer(verdict.memory, { type, message: error.message, fields: error.detail.fields });
    return;
  }
  const isRight = verdict.type === "refuse" && verdict.error === type;
  must(
    isRight,
    () => `${call.kind} was refused as ${type} (${error.message}), the contract says ${canonical(verdict)}`,
  );
}
