import type { JsonObject } from "@formbridge/contract";
import { ANONYMOUS, COURIER, INTAKE_NAMES, PLAYERS, type Player, VISITOR } from "./cast.ts";
import { mayHold } from "./judge.ts";
import type { Call, Kind, Sub } from "./model.ts";
import type { Dice } from "./random.ts";

/** What callers know: tokens they got, calls they made. */
export interface Notebook {
  subs: Map<string, Sub>;
  tokens: Map<string, string[]>;
  calls: Call[];
  uploads: Map<string, string[]>;
  /** By submission: links that were created, and sessions that were opened with them. */
  links: Map<string, { handoffId: string; link: string }[]>;
  sessions: Map<string, string[]>;
}

const MIX: readonly (readonly [Kind, number])[] = [
  ["create", 7],
  ["setFields", 30],
  ["validate", 6],
  ["requestUpload", 4],
  ["confirmUpload", 6],
  ["submit", 13],
  ["review", 11],
  ["cancel", 2],
  ["revoke", 1],
  ["reissue", 2],
  ["retryDelivery", 1],
  ["handoff", 4],
  ["openSession", 4],
  ["revokeHandoff", 1.5],
  ["get", 9],
  ["events", 3],
  ["list", 0.4],
  ["sweep", 0.6],
  ["flush", 1],
  ["deliver", 5],
];
const TOTAL = MIX.reduce((sum, [, weight]) => sum + weight, 0);

function pickKind(dice: Dice): Kind {
  let left = dice.roll() * TOTAL;
  for (const [kind, weight] of MIX) {
    left -= weight;
    if (left < 0) return kind;
  }
  return "get";
}

const SYSTEM: readonly Kind[] = ["sweep", "flush"];

export function inventCall(dice: Dice, book: Notebook): Call {
  if (book.calls.length > 0 && dice.chance(0.14)) return again(dice, book);
  const kind = pickKind(dice);
  const player = SYSTEM.includes(kind) || kind === "deliver" ? COURIER : dice.pick(PLAYERS);
  const base: Call = { kind, player, intake: dice.pick(INTAKE_NAMES), versions: [] };
  if (kind === "create" || book.subs.size === 0)
    return newSubmission(dice, {
      ...base,
      kind: "create",
      player: kind === "deliver" || SYSTEM.includes(kind) ? ANONYMOUS : player,
    });
  if (SYSTEM.includes(kind) || kind === "list") return base;
  const sub = chooseSub(dice, book, kind);
  const address = addressInSession(dice, { kind, sub, book }) ?? addressOf(dice, { kind, sub, book, player });
  const call: Call = { ...base, intake: sub.intake, ...address };
  return { ...call, ...contentOf(dice, kind, { sub, book }) };
}

/** Mostly recent ones, so that callers conflict. */
function chooseSub(dice: Dice, { subs }: Notebook, kind: Kind): Sub {
  const all = [...subs.values()].slice(-8);
  const wanted =
    kind === "review"
      ? ["needs_review"]
      : kind === "deliver" || kind === "retryDelivery"
        ? ["submitted", "approved"]
        : [];
  const fitting = all.filter(({ state }) => wanted.includes(state));
  const open = all.filter(({ state }) => !["finalized", "cancelled", "expired"].includes(state));
  if (fitting.length > 0 && dice.chance(0.9)) return dice.pick(fitting);
  return dice.pick(open.length > 0 && dice.chance(0.9) ? open : all);
}

/** A visitor comes with a link, and works in a session. Callers with a session use it often. */
function addressInSession(dice: Dice, about: { kind: Kind; sub: Sub; book: Notebook }): Partial<Call> | undefined {
  const { kind, sub, book } = about;
  const elsewhere = dice.chance(0.03) ? dice.pick([...book.subs.keys()]) : sub.id;
  if (kind === "openSession") {
    const known = book.links.get(elsewhere) ?? [];
    const link = known.length > 0 ? dice.pick(known).link : `sess_${"Z".repeat(43)}`;
    return { player: VISITOR, submissionId: sub.id, link };
  }
  const sessions = book.sessions.get(elsewhere) ?? [];
  if (kind === "deliver" || sessions.length === 0 || dice.chance(0.6)) return undefined;
  const session = dice.chance(0.02) ? `sess_${"Z".repeat(43)}` : dice.pick(sessions);
  const version = sub.version - (dice.chance(0.15) ? 1 : 0);
  return {
    player: VISITOR,
    session,
    ...(dice.chance(0.8) && { submissionId: sub.id }),
    versions: dice.chance(0.92) ? [version] : [],
  };
}

const garbage = (dice: Dice): string => (dice.chance(0.5) ? `rtok_${"Z".repeat(43)}` : "rtok_short");

function addressOf(dice: Dice, about: { kind: Kind; sub: Sub; book: Notebook; player: Player }): Partial<Call> {
  const { kind, sub, book, player } = about;
  if (kind === "review" || kind === "deliver") {
    const who =
      kind === "review" && dice.chance(0.8)
        ? dice.pick(PLAYERS.filter(({ roles }) => roles.includes("reviewer") || roles.includes("admin")))
        : undefined;
    return { submissionId: sub.id, versions: [], ...(who && { player: who }) };
  }
  const isAdministration = kind === "revoke" || kind === "reissue";
  const byKey = player.apiKey !== undefined && dice.chance(isAdministration || mayHold(player, sub) ? 0.5 : 0.1);
  if (byKey) {
    const version = sub.version - (dice.chance(0.2) ? 1 : 0);
    return { submissionId: sub.id, versions: dice.chance(0.8) ? [version] : [] };
  }
  if (isAdministration && dice.chance(0.2)) return { submissionId: sub.id, versions: [], player: ANONYMOUS };
  const named = { ...(dice.chance(0.5) && { submissionId: sub.id }), versions: dice.chance(0.1) ? [sub.version] : [] };
  if (dice.chance(0.02)) return { ...named, token: garbage(dice) };
  if (dice.chance(0.02)) return named;
  const source = dice.chance(0.02) ? dice.pick([...book.subs.keys()]) : sub.id;
  const known = book.tokens.get(source) ?? [];
  const token = dice.chance(0.82) ? known.at(-1) : known[dice.below(known.length)];
  return token === undefined ? named : { ...named, token };
}

const keyOf = (dice: Dice): string =>
  dice.chance(0.3)
    ? `shared-key-${dice.below(4)}-${"k".repeat(24)}`
    : dice.chance(0.05)
      ? "short"
      : `key-${dice.below(1e9)}-${"k".repeat(30)}`;

function newSubmission(dice: Dice, call: Call): Call {
  return {
    ...call,
    ...(dice.chance(0.6) && { fields: fieldsOf(dice, { deletes: false }) }),
    ...(dice.chance(0.2) && { ttlMs: dice.pick([60_000, 3_600_000, 90_000_000]) }),
    ...(dice.chance(0.6) && { key: keyOf(dice) }),
  };
}

function contentOf(dice: Dice, kind: Kind, { sub, book }: { sub: Sub; book: Notebook }): Partial<Call> {
  switch (kind) {
    case "setFields":
      return { fields: fieldsOf(dice, { deletes: true }), ...(dice.chance(0.5) && { key: keyOf(dice) }) };
    case "submit":
      return dice.chance(0.97) ? { key: keyOf(dice) } : {};
    case "requestUpload":
      return {
        sizeBytes: dice.chance(0.1) ? 5000 : 40 + dice.below(50),
        mimeType: dice.chance(0.1) ? "text/plain" : "image/png",
      };
    case "confirmUpload": {
      const known = book.uploads.get(sub.id) ?? [];
      return { uploadId: known.length > 0 && dice.chance(0.95) ? dice.pick(known) : "upl_nobody" };
    }
    case "revokeHandoff": {
      const known = book.links.get(sub.id) ?? [];
      return { handoffId: known.length > 0 && dice.chance(0.95) ? dice.pick(known).handoffId : "hof_nobody" };
    }
    case "review": {
      const decision = dice.chance(0.8) ? "approved" : "rejected";
      return { decision, ...(decision === "rejected" && dice.chance(0.8) && { reasons: ["no"] }) };
    }
    case "deliver":
      return { outcome: dice.pick(["attempt", "attempt", "success", "failure"] as const) };
    default:
      return {};
  }
}

function fieldsOf(dice: Dice, { deletes }: { deletes: boolean }): JsonObject {
  if (deletes && dice.chance(0.03)) return {};
  const fields: JsonObject = {};
  const text = (): string => `v${dice.below(1000)}`;
  if (dice.chance(0.6)) fields.a = dice.chance(0.05) ? "x".repeat(30) : dice.chance(0.05) ? 7 : text();
  if (dice.chance(0.5)) fields.n = dice.chance(0.05) ? "no number" : dice.below(20);
  if (dice.chance(0.4)) fields.secret = text();
  if (dice.chance(0.15)) fields["addr.city"] = text();
  if (dice.chance(0.15)) fields.addr = { zip: text() };
  if (dice.chance(0.03)) fields.sign = text();
  if (dice.chance(0.01)) fields.zzz = text();
  if (dice.chance(0.01)) fields.doc = { uploadId: "upl_forged" };
  if (dice.chance(0.005)) fields["constructor.name"] = text();
  if (deletes && dice.chance(0.1)) fields[dice.pick(["a", "n", "addr", "addr.city"])] = null;
  return Object.keys(fields).length === 0 ? { a: text() } : fields;
}

/** The same call again, as by a client without a response: identical, or with a change that it should not have made. */
function again(dice: Dice, { calls, tokens }: Notebook): Call {
  const { uploadId, minted: _, ...call } = dice.pick(calls.slice(-12));
  const repeated: Call = call.kind === "confirmUpload" && uploadId !== undefined ? { ...call, uploadId } : call;
  if (dice.chance(0.65) || call.session !== undefined || call.link !== undefined) return repeated;
  if (dice.chance(0.4))
    return { ...repeated, player: dice.pick(PLAYERS.filter(({ actor }) => actor.kind !== "system")) };
  const token = tokens.get(call.submissionId ?? "")?.at(-1);
  if (token !== undefined && call.token !== undefined && dice.chance(0.5)) return { ...repeated, token };
  return call.fields === undefined
    ? repeated
    : { ...repeated, fields: { ...call.fields, a: `changed${dice.below(100)}` } };
}
