/**
 * One actor's traces in a submission, its history and its archived document: finding them, and what remains without
 * them. Values of fields are never searched: they belong to the submission, whoever typed them.
 */
import type { Actor, EventActor, Json, JsonObject } from "@formbridge/contract";
import type { ChainedEvent } from "./chained-event.ts";
import type { Submission } from "./submission.ts";
import { isBearer } from "./tokens/bearer.ts";

/** The actor to forget. Without a kind, agents and humans of this id. */
export interface SoughtActor {
  kind?: "agent" | "human";
  id: string;
}

/** An actor whose name was erased. */
export const ERASED_ACTOR = "erased";
export const nobody = ({ kind }: Pick<Actor, "kind">): Actor => ({ kind, id: ERASED_ACTOR });

type Members = Record<string, unknown>;
const isMembers = (value: unknown): value is Members => typeof value === "object" && value !== null;

export function isSought(value: unknown, sought: SoughtActor): boolean {
  if (!isMembers(value) || value.id !== sought.id || typeof value.kind !== "string") return false;
  return value.kind !== "system" && (sought.kind === undefined || sought.kind === value.kind);
}

/** Lists of reviewers name people by id or address alone. */
const LISTS_OF_NAMES = new Set(["ids", "emails"]);
const FIELD_VALUES = "fields";

export function mentions(value: unknown, sought: SoughtActor): boolean {
  if (!isMembers(value)) return false;
  if (isSought(value, sought)) return true;
  return Object.entries(value).some(([name, inner]) => {
    if (name === FIELD_VALUES) return false;
    if (LISTS_OF_NAMES.has(name) && Array.isArray(inner) && inner.includes(sought.id)) return true;
    return mentions(inner, sought);
  });
}

/** The person named here wrote the words beside it. */
const AUTHORS = ["by", "decidedBy", "cancelledBy"];
const WORDS = new Set(["comment", "reason", "reasons", "fieldReasons"]);

/** The value with the actor's names replaced, and without the comments and reasons that they wrote. */
function withoutActor<Value>(value: Value, sought: SoughtActor): Value;
function withoutActor(value: unknown, sought: SoughtActor): unknown {
  if (!isMembers(value)) return value;
  if (Array.isArray(value)) return value.map((item) => withoutActor(item, sought));
  if (isSought(value, sought)) return nobody(value as unknown as Actor);
  const wrote = AUTHORS.some((name) => isSought(value[name], sought));
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => {
      if (name === FIELD_VALUES) return [[name, inner]];
      // A rejection must have `reasons`, so empty the list instead of removing it.
      if (wrote && WORDS.has(name)) return name === "reasons" ? [[name, []]] : [];
      if (LISTS_OF_NAMES.has(name) && Array.isArray(inner)) return [[name, inner.filter((id) => id !== sought.id)]];
      return [[name, withoutActor(inner, sought)]];
    }),
  );
}

/** The value without references to these files. */
function withoutFiles(value: Json, gone: ReadonlySet<string>): Json | undefined {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.flatMap((item) => withoutFiles(item, gone) ?? []);
  if (typeof value.uploadId === "string" && gone.has(value.uploadId)) return undefined;
  const members = Object.entries(value).flatMap(([name, inner]) => {
    const rest = withoutFiles(inner, gone);
    return rest === undefined ? [] : [[name, rest] as const];
  });
  return Object.fromEntries(members);
}

export interface Traces {
  sought: SoughtActor;
  /** Events that lose actor, payload or both, as they remain. */
  events: ChainedEvent[];
  /** Files that the actor announced or sent. */
  uploads: string[];
  /** They set values, which stay. */
  setFields: boolean;
}

/** An ended submission without the traces. Its values stay, except for files that the actor sent. */
export function forget(submission: Submission, { sought, uploads }: Pick<Traces, "sought" | "uploads">): Submission {
  const gone = new Set(uploads);
  const { fields } = submission;
  return {
    ...withoutActor(submission, sought),
    fields: gone.size === 0 ? fields : ((withoutFiles(fields, gone) ?? {}) as JsonObject),
    uploads: submission.uploads.filter(({ uploadId }) => !gone.has(uploadId)),
  };
}

const ABOUT_FILES = new Set(["upload.requested", "upload.completed"]);
const text = (payload: JsonObject | null, name: string): string | undefined => {
  const value = payload?.[name];
  return typeof value === "string" ? value : undefined;
};

/** The part of an event that traces are in. */
type Traced = Pick<ChainedEvent, "type" | "actor" | "payload">;

/**
 * What the actor's events lead to: their files, and their addresses. A reader with only a token is nobody by name, but
 * from one of these addresses it was probably the actor.
 */
function leads(events: readonly Traced[], sought: SoughtActor) {
  const own = events.filter(({ actor }) => isSought(actor, sought));
  const of = (name: string, from = own) => new Set(from.flatMap(({ payload }) => text(payload, name) ?? []));
  const uploads = of(
    "uploadId",
    own.filter(({ type }) => ABOUT_FILES.has(type)),
  );
  return { own, uploads, addresses: of("ipAddress") };
}

const isNameless = (actor: EventActor | null): boolean =>
  actor !== null && (actor.kind === "unknown" || isBearer(actor));

/** Which parts of each event are traces, and what the history says of the actor's files and values. */
export function traceEvents(events: readonly Traced[], sought: SoughtActor) {
  const { own, uploads, addresses } = leads(events, sought);
  const lost = events.map((event) => {
    const { actor, payload } = event;
    const isOwn = isSought(actor, sought);
    const address = text(payload, "ipAddress");
    const isPart =
      mentions(payload, sought) ||
      uploads.has(text(payload, "uploadId") ?? "") ||
      (isNameless(actor) && address !== undefined && addresses.has(address));
    return { actor: isOwn, payload: payload !== null && (isOwn || isPart) };
  });
  return { lost, uploads: [...uploads], setFields: own.some(({ type }) => type === "field.updated") };
}

export function findTraces(events: readonly ChainedEvent[], sought: SoughtActor): Traces {
  const { lost, uploads, setFields } = traceEvents(events, sought);
  const remaining = events.flatMap((event, index) => {
    const { actor = false, payload = false } = lost[index] ?? {};
    if (!actor && !payload) return [];
    const rest = { ...event };
    if (actor) Object.assign(rest, { actor: null, actorSalt: null });
    if (payload) Object.assign(rest, { payload: null, payloadSalt: null });
    return [rest];
  });
  return { sought, events: remaining, uploads, setFields };
}

/** An archived document, as it was written before its submission was erased. */
interface ArchivedDocument extends JsonObject {
  submission: JsonObject;
  files: JsonObject[];
  events: JsonObject[];
}

/** The document without the actor; undefined if there is nothing of theirs in it. */
export function forgetInDocument(document: JsonObject, sought: SoughtActor): JsonObject | undefined {
  const { submission, files, events } = document as ArchivedDocument;
  const { lost, uploads } = traceEvents(events as unknown as Traced[], sought);
  if (!mentions(submission, sought) && !lost.some(({ actor, payload }) => actor || payload)) return undefined;
  const gone = new Set(uploads);
  return {
    ...document,
    submission: withoutFiles(withoutActor(submission, sought), gone) ?? {},
    files: files.filter(({ uploadId }) => !gone.has(String(uploadId))),
    events: events.map((event, index) => {
      const { actor = false, payload = false } = lost[index] ?? {};
      const proof = (event.proof ?? {}) as JsonObject;
      return {
        ...event,
        ...(actor && { actor: null }),
        ...(payload && { payload: null }),
        proof: { ...proof, ...(actor && { actorSalt: null }), ...(payload && { payloadSalt: null }) },
      };
    }),
  };
}
