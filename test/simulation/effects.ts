import type { ErrorType, JsonObject, SubmissionState } from "@formbridge/contract";
import { actorOf, INTAKES } from "./cast.ts";
import { handOver } from "./handovers.ts";
import {
  type Call,
  DEFAULT_TTL,
  type Flight,
  isEnded,
  MEND,
  merged,
  type Sub,
  UPLOAD_TTL,
  type Upload,
  type View,
} from "./model.ts";

/** What a call that is accepted does to its submission. */
export interface Effect {
  rotates: boolean;
  next: Partial<Sub>;
  /** Recorded and still refused: a failed submit, a file that is not the one announced. */
  refusal?: ErrorType;
}

/** What a verdict needs to know about a call. */
export type Standpoint = Pick<Flight, "call" | "inspected" | "round">;

type Outcome = Effect | ErrorType;

export function effectOf({ call, inspected, round }: Standpoint, view: View): Outcome {
  if (call.kind === "create") return create(call, view);
  const { sub } = view;
  if (sub === undefined) return "not_found";
  switch (call.kind) {
    case "setFields":
      return setFields(call, sub, view.now);
    case "validate":
      return { rotates: false, next: { state: stateFound(sub, view.now) } };
    case "submit":
      return submit(call, sub, view.now);
    case "requestUpload":
      return requestUpload(call, sub, view.now);
    case "confirmUpload":
      return confirmUpload(call, { sub, inspected, now: view.now });
    case "review":
      // Submitted again since the reviewer's call began: that is another review.
      return round !== undefined && round !== sub.round ? "conflict" : review(call, sub, view.now);
    case "cancel":
      return sub.delivering ? "conflict" : { rotates: true, next: { state: "cancelled", endedAt: view.now } };
    case "revoke":
      return { rotates: true, next: { epoch: sub.epoch + 1, revoked: true } };
    case "reissue":
      return { rotates: true, next: { epoch: sub.epoch + 1, revoked: false } };
    case "retryDelivery":
      if (sub.state === "needs_review") return "needs_approval";
      return isWaiting(sub) && !sub.delivering ? { rotates: false, next: { givenUp: false } } : "conflict";
    case "handoff":
    case "openSession":
    case "revokeHandoff":
      return handOver(call, sub, view.now);
    case "deliver":
      return deliver(call, sub, view.now);
    default:
      return "internal_error";
  }
}

const isWaiting = ({ state }: Sub): boolean => state === "submitted" || state === "approved";

function unstorable({ fields = {}, player }: Call): ErrorType | undefined {
  if (Object.keys(fields).some((key) => key.split(".").includes("constructor"))) return "bad_request";
  const actor = actorOf(player);
  const forbidden = "sign" in fields && (actor.kind !== "human" || actor.declared === true);
  return "zzz" in fields || "doc" in fields || forbidden ? "invalid" : undefined;
}

function create(call: Call, { now }: View): Outcome {
  const problem = unstorable(call);
  if (problem !== undefined) return problem;
  const { fields = {}, intake: name } = call;
  const intake = INTAKES[name];
  const ttlMs = call.ttlMs ?? ("ttlMs" in intake ? intake.ttlMs : DEFAULT_TTL);
  const state: SubmissionState = Object.keys(fields).length === 0 ? "draft" : "in_progress";
  const next = { state, fields: merged({}, fields), ttlMs, createdAt: now, expiresAt: now + ttlMs };
  return { rotates: true, next: { ...next, createdBy: actorOf(call.player) } };
}

/** Announced, not arrived, and still able to arrive. */
const pending = ({ uploads }: Sub, now: number): Upload[] =>
  uploads.filter(({ confirmed, expiresAt }) => !confirmed && now < expiresAt);

function setFields(call: Call, sub: Sub, now: number): Outcome {
  const problem = unstorable(call);
  if (problem !== undefined) return problem;
  const fields = merged(sub.fields, call.fields ?? {});
  // A write that leaves a draft empty doesn't start it.
  if (sub.state === "draft" && Object.keys(fields).length === 0) return { rotates: true, next: { fields } };
  const waits = pending(sub, now).length > 0;
  return { rotates: true, next: { fields, state: waits ? "awaiting_upload" : "in_progress" } };
}

const REQUIRED = { plain: ["a"], gated: ["a", "n"], hush: ["secret"] } as const;
const isMissing = ({ intake, fields }: Sub): boolean => REQUIRED[intake].some((name) => !(name in fields));

function isWrong({ a, n, addr, secret, sign }: JsonObject): boolean {
  const isText = (value: unknown): boolean => value === undefined || typeof value === "string";
  const address = typeof addr === "object" && addr !== null && !Array.isArray(addr) ? addr : {};
  return (
    !isText(a) ||
    (typeof a === "string" && a.length > 20) ||
    (n !== undefined && !Number.isInteger(n)) ||
    ![address.city, address.zip, secret, sign].every(isText)
  );
}

function stateFound(sub: Sub, now: number): SubmissionState {
  if (sub.state === "rejected") return "rejected";
  if (isMissing(sub) || isWrong(sub.fields)) return "awaiting_input";
  if (pending(sub, now).length > 0) return "awaiting_upload";
  return sub.state === "draft" ? "draft" : "in_progress";
}

function submit({ player }: Call, sub: Sub, now: number): Outcome {
  const refusal = isMissing(sub)
    ? "missing"
    : pending(sub, now).length > 0
      ? "upload_pending"
      : isWrong(sub.fields)
        ? "invalid"
        : undefined;
  if (refusal !== undefined) return { rotates: false, next: { state: stateFound(sub, now) }, refusal };
  const sent = { submittedBy: actorOf(player), round: sub.round + 1, givenUp: false };
  if (sub.intake === "plain") return { rotates: true, next: { ...sent, state: "finalized", endedAt: now } };
  if (sub.intake === "hush") return { rotates: true, next: { ...sent, state: "submitted", delivering: false } };
  return { rotates: true, next: { ...sent, state: "needs_review", gate: 0, approvals: [], delivering: false } };
}

function requestUpload({ uploadId = "", mimeType, sizeBytes = 0 }: Call, sub: Sub, now: number): Outcome {
  if (mimeType !== "image/png" || sizeBytes > 1000) return "invalid";
  const older = sub.uploads.filter(({ confirmed }) => !confirmed);
  const supersedes = older.flatMap((upload) => [...upload.supersedes, upload.id]).slice(-20);
  const announced = { id: uploadId, sizeBytes, confirmed: false, expiresAt: now + UPLOAD_TTL, supersedes };
  const uploads = [...sub.uploads.filter(({ confirmed }) => confirmed), announced];
  return { rotates: true, next: { state: "awaiting_upload", uploads } };
}

interface Arrival {
  sub: Sub;
  inspected: Flight["inspected"];
  now: number;
}

function confirmUpload({ uploadId }: Call, { sub, inspected, now }: Arrival): Outcome {
  const upload = sub.uploads.find(({ id }) => id === uploadId);
  if (sub.uploads.some(({ supersedes }) => supersedes.includes(uploadId ?? ""))) return "conflict";
  if (upload === undefined) return "not_found";
  if (upload.confirmed) return "conflict";
  if (inspected === undefined) return "upload_pending";
  const state = pending(sub, now).some(({ id }) => id !== uploadId) ? "awaiting_upload" : "in_progress";
  if (inspected.sizeBytes !== upload.sizeBytes || inspected.sniffedType !== "image/png") {
    const uploads = sub.uploads.filter(({ id }) => id !== uploadId);
    return { rotates: false, next: { state, uploads }, refusal: "invalid" };
  }
  const { sizeBytes, sha256 } = inspected;
  const doc = { uploadId: upload.id, filename: "f.png", mimeType: "image/png", sizeBytes, sha256 };
  const uploads = sub.uploads.map((one) => (one === upload ? { ...one, confirmed: true } : one));
  return { rotates: true, next: { state, uploads, fields: { ...sub.fields, doc } } };
}

function review({ player, decision, reasons }: Call, sub: Sub, now: number): Outcome {
  if (sub.state !== "needs_review") return "conflict";
  if (sub.submittedBy?.id === player.actor.id && sub.submittedBy.kind === player.actor.kind) return "forbidden";
  if (sub.approvals.includes(player.actor.id)) return "conflict";
  if (decision === "rejected") {
    if (reasons === undefined) return "invalid";
    return { rotates: true, next: { state: "rejected", expiresAt: Math.max(sub.expiresAt, now + MEND) } };
  }
  const approvals = [...sub.approvals, player.actor.id];
  if (sub.gate === 0 && approvals.length < 2) return { rotates: true, next: { approvals } };
  const passes = sub.gate === 1 || Number(sub.fields.n) < 10;
  return { rotates: true, next: passes ? { state: "approved", approvals } : { gate: 1, approvals: [] } };
}

function deliver({ outcome }: Call, sub: Sub, now: number): Outcome {
  if (sub.state === "needs_review") return "needs_approval";
  if (!isWaiting(sub) || isEnded(sub)) return "conflict";
  if (outcome === "attempt") return { rotates: false, next: { delivering: true, givenUp: false } };
  if (outcome === "failure") return { rotates: false, next: { delivering: false, givenUp: true } };
  return { rotates: true, next: { delivering: false, state: "finalized", endedAt: now } };
}
