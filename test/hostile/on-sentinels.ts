import { type Body, mutated, surelyWrong, validBody } from "./bodies.ts";
import { brokenBody } from "./corpus-bodies.ts";
import { BAD_IDEMPOTENCY_KEYS, BAD_VERSIONS, CREDENTIALS, WRONG_MEDIA_TYPES } from "./corpus-heads.ts";
import type { Random } from "./random.ts";
import {
  type Draft,
  GARBAGE_CONDITIONS,
  malformedToken,
  spelled,
  toRequest,
  unknownSession,
  unknownToken,
} from "./request.ts";
import { bearer, bytes, type Case, isByToken, knows, type Scene, takesRef } from "./scene.ts";
import type { Sentinel } from "./world.ts";

const EDITABLE = ["draft", "in_progress", "awaiting_input", "rejected"];

/** Any call on a sentinel by a caller without rights to it. */
export function byStranger(scene: Scene): Case {
  const { world, operations, random } = scene;
  const sentinel = random.pick(world.sentinels);
  const operation = random.pick(operations.all.filter(takesRef));
  const [home, away] = sentinel.tenant === world.own.name ? [world.own, world.foreign] : [world.foreign, world.own];
  const unwelcome = [
    ...[away.admin, away.agent, away.reviewer, ...world.deadKeys].map((key) => bearer(key)[1]),
    ...[unknownSession(random), "sess_short", ...world.visits.map(({ session }) => session)].map(
      (key) => bearer(key)[1],
    ),
    ...CREDENTIALS.slice(1),
  ];
  const idle = [
    undefined,
    ...[home.viewer, home.outsideReviewer, home.otherAgent, home.limited].map((key) => bearer(key)[1]),
  ];
  const refused = random.chance(0.6);
  const authorization = random.pick<string | undefined>(refused ? unwelcome : idle);
  const old = sentinel.oldTokens.length > 0 && random.chance(0.5) ? random.pick(sentinel.oldTokens) : undefined;
  // With refused credentials, even the right token opens nothing.
  const good = refused && random.chance(0.4) ? sentinel.token : undefined;
  const token = good ?? old ?? random.pick([unknownToken(random), malformedToken(sentinel.token ?? "rtok_", random)]);
  const ref = isByToken(operation) || random.chance(0.3) ? encodeURIComponent(token) : sentinel.submissionId;
  const mismatch = random.chance(0.1) ? random.pick(world.toys).token : token;
  const headers = [
    ...(authorization === undefined ? [] : [["Authorization", authorization] as const]),
    ...(random.chance(0.5) && ref === sentinel.submissionId
      ? [["If-Match", spelled(mismatch, 1 + random.below(5), random)] as const]
      : []),
    ...(random.chance(0.3) ? [["Idempotency-Key", random.text(20)] as const] : []),
  ];
  const body = validBody(operation, random);
  const draft: Draft = { operation, params: { ref }, headers };
  if (body !== undefined) draft.body = bytes(random.chance(0.6) ? body : mutated(body, random));
  const isSilent = token !== old || sentinel.intakeId === home.hookIntake || !EDITABLE.includes(sentinel.state);
  return {
    kind: "stranger",
    request: toRequest(draft, random),
    expectation: { operation, mustRefuse: true, ...(isSilent && mismatch === token && { mayNotLearnToken: true }) },
  };
}

/** A call by an authorized caller, with one thing in it that can't be valid. */
export function byOwnerInNonsense(scene: Scene): Case {
  const { world, operations, random } = scene;
  const sentinel = random.pick(world.sentinels);
  const home = sentinel.tenant === world.own.name ? world.own : world.foreign;
  const operation = random.pick(operations.all.filter(({ method }) => method !== "GET"));
  const key =
    takesRef(operation) && !/^(review|revoke|reissue|retry)/.test(operation.id)
      ? random.pick([home.agent, home.admin])
      : home.admin;
  const token = sentinel.token ?? sentinel.oldTokens[0] ?? "";
  const params = {
    ref: isByToken(operation) ? token : sentinel.submissionId,
    intakeId: random.pick([home.publicIntake, home.gatedIntake]),
  };
  const withToken = takesRef(operation) && knows(operation, "resumeToken") && random.chance(0.7);
  const headers: (readonly [string, string])[] = [bearer(key)];
  if (withToken) headers.push(["If-Match", `"${token}"`]);
  const draft: Draft = { operation, params, headers };
  const body = { ...validBody(operation, random) };
  if (operation.body !== undefined) draft.body = bytes(body);
  spoil(draft, { body, withToken, sentinel, random });
  return { kind: "nonsense", request: toRequest(draft, random), expectation: { operation, mustRefuse: true } };
}

function spoil(draft: Draft, about: { body: Body; withToken: boolean; sentinel: Sentinel; random: Random }): void {
  const { operation } = draft;
  const { body, withToken, random } = about;
  const headers = draft.headers ?? [];
  const ways: (() => void)[] = [
    () => {
      draft.body = brokenBody(random);
    },
    () => {
      draft.body ??= bytes({});
      headers.push(["Content-Type", random.pick(WRONG_MEDIA_TYPES)]);
    },
    () => {
      draft.query = `${random.pick(["__proto__", "x", "limit", "resumeToken"])}=1`;
    },
  ];
  const say = (said: Body): void => {
    draft.body = bytes(said);
  };
  if (operation.body !== undefined) ways.push(() => say(surelyWrong(operation, body, random)));
  if (withToken) ways.push(() => say({ ...body, resumeToken: unknownToken(random) }));
  if (takesRef(operation)) {
    ways.push(() => headers.push(["X-Intake-Version", random.pick([...BAD_VERSIONS, "999", "0"])]));
    if (!withToken) ways.push(() => headers.push(["If-Match", random.pick(GARBAGE_CONDITIONS)]));
  }
  if (/^(createSubmission|setFields|submit)/.test(operation.id)) {
    ways.push(() => headers.push(["Idempotency-Key", random.pick(BAD_IDEMPOTENCY_KEYS)]));
  }
  random.pick(ways)();
}
