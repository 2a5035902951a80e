import { mutated, validBody } from "./bodies.ts";
import { brokenBody } from "./corpus-bodies.ts";
import { METHODS, PATHS, SEGMENTS } from "./corpus-heads.ts";
import { createRandom } from "./random.ts";
import { type Draft, hostileQuery, oddHeaders, toRequest, unknownToken, uuid } from "./request.ts";
import { bearer, bytes, type Case, isByToken, pageToken, type Scene, takesRef } from "./scene.ts";
import type { WireRequest } from "./wire.ts";

/** Paths, methods and lists that make no sense. */
export function stray({ world, operations, random }: Scene): Case {
  const lists = operations.all.filter(({ id }) => id.startsWith("list"));
  const list = random.pick(lists);
  const query = random.chance(0.4) ? `pageToken=${pageToken(world, random)}` : hostileQuery(list, random);
  const headers = [
    ["Host", "x"],
    bearer(random.pick([world.own.admin, world.own.viewer, world.foreign.admin])),
    ...oddHeaders(random),
  ] as const;
  const known = random
    .pick(operations.all)
    .template.replace(/\{[A-Za-z]+\}/g, () => random.pick(SEGMENTS).replaceAll(" ", "%20"));
  const request: WireRequest = random.pick<() => WireRequest>([
    () => ({ method: random.pick(METHODS), path: known, headers }),
    () => ({ method: random.pick(["GET", "POST", "PUT", "PATCH", "DELETE"]), path: random.pick(PATHS), headers }),
    () => ({ method: random.pick(["GET", "POST", "DELETE", "PATCH"]), path: known, headers, body: brokenBody(random) }),
    () => ({ method: "GET", path: `${list.template}?${query}`, headers }),
  ])();
  const path = request.path.replaceAll(" ", "%20");
  return {
    kind: "stray",
    request: { ...request, path },
    expectation: { operation: operations.find(request.method, path) },
  };
}

/** Something that belongs to somebody else, and something that doesn't exist, requested in the same way. */
export function twins({ world, operations, random }: Scene): Case {
  const sentinel = random.pick(world.sentinels);
  const [home, away] = sentinel.tenant === world.own.name ? [world.own, world.foreign] : [world.foreign, world.own];
  const operation = random.pick(
    operations.all.filter(
      ({ id, template }) => (template.includes("{ref}") || template.includes("{intakeId}")) && id !== "putIntake",
    ),
  );
  const byToken = takesRef(operation) && (isByToken(operation) || random.chance(0.3));
  const key = random.pick(byToken ? [away.admin, away.agent] : [away.admin, away.agent, away.viewer, home.limited]);
  const body = validBody(operation, random);
  const draft: Draft = {
    operation,
    params: {},
    headers: [bearer(key), ...(random.chance(0.2) ? [["If-Match", '"1"'] as const] : [])],
  };
  if (body !== undefined) draft.body = bytes(random.chance(0.7) ? body : mutated(body, random));
  const there = {
    ref: byToken ? (sentinel.token ?? unknownToken(random)) : sentinel.submissionId,
    intakeId: home.gatedIntake,
  };
  const absent = { ref: byToken ? unknownToken(random) : `sub_${uuid(random)}`, intakeId: "hz-gated" };
  const stream = random.below(2 ** 31);
  const make = (params: Record<string, string>): WireRequest => toRequest({ ...draft, params }, createRandom(stream));
  return {
    kind: "twins",
    request: make(there),
    twin: make(absent),
    expectation: { operation, mustRefuse: true, mayNotLearnToken: true },
  };
}
