import { type Body, mutated, validBody } from "./bodies.ts";
import { brokenBody } from "./corpus-bodies.ts";
import { CREDENTIALS, SEGMENTS } from "./corpus-heads.ts";
import type { Operation } from "./operations.ts";
import type { Random } from "./random.ts";
import { type Draft, hostileQuery, oddHeaders, spelled, toRequest, unknownToken, uuid } from "./request.ts";
import { bearer, bytes, type Case, isByToken, pageToken, type Scene, takesRef } from "./scene.ts";
import type { Link, Toy } from "./world.ts";

/** Calls on toys, which may change: valid ones, so that their state changes, and ones where anything may be wrong. */
export function onToy(scene: Scene, { valid }: { valid: boolean }): Case {
  const { world, operations, random } = scene;
  const operation =
    valid && random.chance(0.12) ? operations.find("POST", "/intakes/x/submissions") : random.pick(operations.all);
  if (operation === undefined) throw new Error("the document has no createSubmission");
  const link = linkFor(operation, scene);
  const toy =
    world.toys.find(({ submissionId }) => submissionId === link?.submissionId) ?? toyFor(operation, scene, valid);
  const wild = !valid && random.chance(0.2);
  const byToken = isByToken(operation) && !operation.template.includes("{token}");
  const isExchange = operation.id === "openSession";
  const ref = byToken || (random.chance(0.2) && !isExchange) ? toy.token : toy.submissionId;
  const params = {
    token: toy.token,
    ...(link && { handoffId: link.handoffId }),
    ref: wild ? random.pick(SEGMENTS) : ref,
    intakeId: wild ? random.pick(SEGMENTS) : intakeFor(operation, scene),
    ...(wild && { uploadId: random.pick(SEGMENTS), keyId: random.pick(SEGMENTS), webhookId: random.pick(SEGMENTS) }),
    ...(!wild && operation.id === "revokeKey" && { keyId: world.spareKeyIds.pop() ?? `key_${uuid(random)}` }),
    ...(!wild && webhookFor(operation, scene)),
    ...(!wild && alarmFor(operation, scene)),
  };
  const draft: Draft = { operation, params, headers: toyHeaders(scene, operation, { ...toy, valid }) };
  const made = isExchange && link ? exchange(link, random) : validBody(operation, random);
  const body = operation.id === "putIntake" && made !== undefined ? { ...made, id: params.intakeId } : made;
  if (body !== undefined)
    draft.body = bytes(valid || random.chance(0.3) ? body : mutated(addressed(body, toy, scene), random));
  if (!valid && random.chance(0.15)) draft.body = brokenBody(random);
  draft.query = valid ? validQuery(operation, scene, toy) : random.chance(0.5) ? hostileQuery(operation, random) : "";
  const request = toRequest(draft, random);
  const inSession = request.headers.some(([, value]) => value.startsWith("Bearer sess_"));
  return {
    kind: valid ? "valid" : "toy",
    request,
    expectation: {
      operation: operations.find(request.method, request.path),
      ...(inSession && { mayNotLearnToken: true }),
    },
  };
}

/** A webhook that the call can be about; one that is deleted is gone for the others. */
function webhookFor({ id }: Operation, { world, random }: Scene): { webhookId?: string } {
  const { spareWebhookIds: spare } = world;
  if (!/^(?:get|delete|enable|rotate)Webhook/.test(id) || spare.length === 0) return {};
  return { webhookId: id === "deleteWebhook" ? (spare.pop() ?? "") : random.pick(spare) };
}

/** An incident or a block that the call can be about. */
function alarmFor({ id }: Operation, { world, random }: Scene): { incidentId?: string; blockId?: string } {
  const { incidentIds, spareBlockIds } = world;
  if (/Incident$/.test(id) && incidentIds.length > 0) return { incidentId: random.pick(incidentIds) };
  return id === "removeBlock" && spareBlockIds.length > 0 ? { blockId: spareBlockIds.pop() ?? "" } : {};
}

/** A hand-off that the call can be about. */
const linkFor = ({ id }: Operation, { world, random }: Scene): Link | undefined =>
  /^(?:openSession|revokeHandoff)/.test(id) && world.links.length > 0 ? random.pick(world.links) : undefined;

const exchange = ({ session }: Link, random: Random): Body => ({
  session,
  ...(random.chance(0.7) && { carrier: "header" }),
  ...(random.chance(0.3) && { actor: { kind: "human", id: "jane" } }),
});

/** The states in which an otherwise rare call can be valid. */
const RIPE: Readonly<Record<string, string>> = {
  review: "needs_review",
  retryDelivery: "submitted",
  retryDeliveryByToken: "submitted",
  changeDestination: "submitted",
  reassignReview: "needs_review",
  eraseSubmission: "cancelled",
};

function toyFor(operation: Operation, { world, random }: Scene, valid: boolean): Toy {
  const ripe = valid ? world.toys.filter(({ state }) => state !== undefined && state === RIPE[operation.id]) : [];
  return random.pick(ripe.length > 0 ? ripe : world.toys);
}

function intakeFor(operation: Operation, { world, random }: Scene): string {
  if (operation.id === "putIntake" || operation.id === "retireIntake") return random.pick(world.spareIntakes);
  return random.pick([world.own.publicIntake, world.own.gatedIntake, world.own.hookIntake, ...world.spareIntakes]);
}

function toyHeaders({ world, random }: Scene, operation: Operation, toy: Toy & { valid: boolean }) {
  const { own, foreign, deadKeys } = world;
  const headers: [string, string][] = [];
  const isAdmins = /Intake$|Keys?$|Webhook|Incident$|Block$|^list|^erase|^changeDestination$|^reassign/.test(
    operation.id,
  );
  const keys = isAdmins ? [own.admin] : operation.id === "review" ? [own.reviewer] : [own.agent, own.admin];
  const anyKey = [...keys, own.viewer, own.otherAgent, foreign.admin, foreign.agent, ...deadKeys];
  const visit = world.visits.find(({ submissionId }) => submissionId === toy.submissionId);
  if (visit !== undefined && takesRef(operation) && random.chance(0.3)) {
    headers.push([...bearer(visit.session)], ["If-Match", `"${toy.version}"`]);
    return toy.valid ? headers : [...headers, ...oddHeaders(random)];
  }
  if (toy.valid || random.chance(0.6)) headers.push([...bearer(random.pick(toy.valid ? keys : anyKey))]);
  else if (random.chance(0.3)) headers.push(["Authorization", random.pick(CREDENTIALS)]);
  if (takesRef(operation) && operation.method !== "GET" && !isByToken(operation) && random.chance(0.8)) {
    headers.push(["If-Match", spelled(toy.token, toy.version, random)]);
  }
  if (/^submit/.test(operation.id)) headers.push(["Idempotency-Key", random.text(random.pick([1, 32, 255]))]);
  return toy.valid ? headers : [...headers, ...oddHeaders(random)];
}

/** Adds the names that a body may repeat from path and headers: right, stale, or of somebody else. */
function addressed(
  body: Body,
  toy: { token: string; version: number; submissionId: string },
  { world, random }: Scene,
): Body {
  const other = random.pick(world.toys);
  return {
    ...body,
    ...(random.chance(0.2) && { resumeToken: random.pick([toy.token, other.token, unknownToken(random)]) }),
    ...(random.chance(0.2) && { version: random.pick([toy.version, toy.version + 1, 0, -1, 2 ** 53 - 1]) }),
    ...(random.chance(0.2) && { submissionId: random.pick([toy.submissionId, other.submissionId]) }),
    ...(random.chance(0.3) && {
      actor: { kind: random.pick(["agent", "human", "system"]), id: random.pick(["anna", "x", "admin"]) },
    }),
  };
}

function validQuery(operation: Operation, { world, random }: Scene, toy: Toy): string {
  const names = operation.parameters.filter((parameter) => parameter.in === "query").map((parameter) => parameter.name);
  const pairs: string[] = [];
  if (names.includes("token")) pairs.push(`token=${toy.token}`);
  if (names.includes("session") && random.chance(0.1)) pairs.push("session=sess_x");
  if (names.includes("limit") && random.chance(0.7)) pairs.push(`limit=${1 + random.below(20)}`);
  if (names.includes("stream") && random.chance(0.5))
    pairs.push(`stream=${random.pick(["submission", "token", "all"])}`);
  if (names.includes("proof") && random.chance(0.3)) pairs.push("proof=true");
  if (names.includes("pageToken") && random.chance(0.5)) return `pageToken=${pageToken(world, random)}`;
  return pairs.join("&");
}
