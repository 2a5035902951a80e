import {
  type Backend,
  createOperations,
  DEFAULT_POLICY,
  type Deps,
  type Operations,
  type StoredIntake,
  sha256,
  silent,
  untraced,
} from "@formbridge/core";
import { createLocalWakeups, createMemoryAlarmWindows, createMemoryRateLimiter } from "@formbridge/store-memory";
import {
  decideDeliveryAttempt,
  decideDeliveryFailure,
  decideDeliverySuccess,
} from "../../packages/core/src/domain/decide/deliver.ts";
import { compileIntake } from "../../packages/core/src/domain/intake/compile-intake.ts";
import { createAuditTrail } from "../../packages/core/src/operations/audit/audit-trail.ts";
import { createCatalog } from "../../packages/core/src/operations/read/catalog.ts";
import { openRow } from "../../packages/core/src/operations/read/open-snapshot.ts";
import { commitDecision } from "../../packages/core/src/operations/write/commit.ts";
import { apiKeys, COURIER, INTAKES } from "./cast.ts";
import { canonical } from "./chain-check.ts";
import { createFiles } from "./files.ts";
import type { Call } from "./model.ts";
import { createCountedRandomness } from "./random.ts";
import { plainSealer } from "./sealer.ts";
import { commit, enter, inFlight, load, type World } from "./world.ts";

/** The product, composed once; the world below it changes with every episode. */
export interface Environment {
  readonly operations: Operations;
  enterWorld(world: World): Promise<void>;
  /** The process dies, and another one replaces it: what it had in memory is gone. */
  restart(): void;
  deliver(call: Call): Promise<void>;
}

export function createEnvironment(): Environment {
  let world: World;
  let random = createCountedRandomness();
  const backend = backendOf(() => world);
  const deps: Deps = {
    backend,
    sealer: plainSealer,
    pageTokens: {
      sign: async (_scope, position, now) => ({ token: JSON.stringify(position), expiresAt: now }),
      open: async (token) => JSON.parse(token),
    },
    random: {
      process: random.process,
      newId: (prefix) => random.newId(prefix),
      resumeToken: () => random.resumeToken(),
      session: () => random.session(),
      reviewLink: () => random.reviewLink(),
      code: () => random.code(),
      apiKey: () => random.apiKey(),
      webhookSecret: () => random.webhookSecret(),
      salt: () => random.salt(),
      chance: () => random.chance(),
    },
    wakeups: createLocalWakeups(),
    rateLimiter: createMemoryRateLimiter({ now: () => world.now }),
    alarmWindows: createMemoryAlarmWindows(),
    instrumentation: silent,
    tracing: untraced,
    publicUrl: () => "http://127.0.0.1",
    settings: {
      policy: DEFAULT_POLICY,
      tokenLookupMs: 60_000,
      keyWaitMs: 600_000,
      watchPollMs: 600_000,
      maxKeyWaiters: 100,
      deliveryWaitMs: 0,
      deliveryWaitMaxMs: 0,
      sweepBatch: 20,
      sweepAtOnce: 8,
      maxSchemaFields: 500,
      maxWebhooks: 100,
      uploadQuotas: { intakeBytes: 0, addressBytes: 0 },
      webhookSecretGraceMs: 0,
      listCountLimit: 1000,
      harvestPageSize: 100,
      alarms: {},
      alarmBlockMs: 0,
      rateLimits: false,
    },
    courier: { send: async () => ({ kind: "failed", error: "nobody goes" }), close: async () => {} },
    webhookSecrets: () => ["whsec_c2VjcmV0"],
    uploadGrants: {
      sign: async ({ ...grant }) => JSON.stringify(grant),
      open: async (token) => JSON.parse(token),
    },
    uploads: createFiles(() => world),
  };
  // Compiling takes longer than an episode, so it is cached.
  const catalog = createCatalog(backend);
  const start = (): Operations => createOperations(deps, { catalog, auditTrail: createAuditTrail(asideOf(deps)) });
  let operations = start();
  const restart = (): void => {
    operations = start();
  };
  return {
    get operations() {
      return operations;
    },
    restart,
    async enterWorld(next) {
      // Notes of the previous process belong to nobody here.
      restart();
      world = next;
      random = createCountedRandomness();
      for (const key of apiKeys()) await world.memory.keys.add(key);
      for (const intake of storedIntakes()) await world.memory.intakes.put(intake, undefined);
    },
    deliver: (call) => deliver(deps, call),
  };
}

/** Reads and writes of the audit trail don't belong to the call they are about: they move no view, and their faults affect nobody. */
function asideOf(deps: Deps): Deps {
  const { store } = deps.backend;
  const aside = <T>(work: () => Promise<T>): Promise<T> => inFlight.run(nobody(), work);
  return {
    ...deps,
    backend: {
      ...deps.backend,
      store: { load: (query) => aside(() => store.load(query)), commit: (change) => aside(() => store.commit(change)) },
    },
  };
}

const nobody = () => ({
  id: 0,
  call: { kind: "flush" as const, player: COURIER, intake: "plain" as const, versions: [] },
  view: { now: 0 },
  began: 0,
  looks: new Map<string, number>(),
  applied: [],
  lost: true,
});

const storedIntakes = (): Omit<StoredIntake, "retired" | "updatedAt">[] =>
  Object.values(INTAKES).map((definition) => ({
    tenant: "default",
    source: "api",
    definition,
    digest: sha256(canonical(definition)),
  }));

/** The world's ports, with its faults where they matter. */
function backendOf(world: () => World): Backend {
  const rest = <Port extends keyof Backend>(port: Port): Backend[Port] =>
    new Proxy({} as object, { get: (_, name) => Reflect.get(world().memory[port] as object, name) }) as Backend[Port];
  return {
    store: { load: (query) => load(world(), query), commit: (change) => commit(world(), change) },
    idempotency: {
      enter: (key, limits) => enter(world(), key, limits),
      find: (key) => world().memory.idempotency.find(key),
      search: (where, limit) => world().memory.idempotency.search(where, limit),
      expired: (limit) => world().memory.idempotency.expired(limit),
      health: () => world().memory.idempotency.health(),
    },
    tokens: rest("tokens"),
    events: rest("events"),
    jobs: rest("jobs"),
    deadlines: rest("deadlines"),
    intakes: rest("intakes"),
    keys: rest("keys"),
    submissions: rest("submissions"),
    webhooks: rest("webhooks"),
    reviewLinks: rest("reviewLinks"),
    retention: rest("retention"),
    publications: rest("publications"),
    incidents: rest("incidents"),
    blocks: rest("blocks"),
    secretChecks: rest("secretChecks"),
    sealedRows: rest("sealedRows"),
    handoffs: {
      ofSubmission: (submissionId) => world().memory.handoffs.ofSubmission(submissionId),
      // Old records are kept here: the model keeps them, too.
      list: (where, limit) => world().memory.handoffs.list(where, limit),
      count: (where, atMost) => world().memory.handoffs.count(where, atMost),
      forgetExpired: async () => 0,
    },
    sizes: () => world().memory.sizes(),
    isShared: false,
    jobsWaiting: () => world().memory.jobsWaiting(),
    connectionsInUse: () => 1,
    close: async () => {},
  };
}

/** One step of a delivery, as the worker takes it: load, decide, commit; gives up if it loses a race. */
async function deliver(deps: Deps, { submissionId = "", outcome }: Call): Promise<void> {
  const loaded = await deps.backend.store.load({ by: { id: submissionId, tenant: "default" } });
  if (loaded.submission === undefined) return;
  const submission = openRow(deps.sealer, loaded.submission);
  const intake = compiled(submission.intakeId as keyof typeof INTAKES);
  const result = { latencyMs: 1 };
  const decision =
    outcome === "attempt"
      ? decideDeliveryAttempt(submission, { by: "simulation", until: 0 })
      : outcome === "success"
        ? decideDeliverySuccess(submission, result)
        : decideDeliveryFailure(
            submission,
            { error: "refused", final: true, chance: 0, result },
            { now: loaded.now, retryPolicy: undefined },
          );
  if (decision.refusal !== undefined) throw decision.refusal;
  await commitDecision(deps, {
    operation: "deliver",
    before: submission,
    decision,
    actor: COURIER.actor,
    now: loaded.now,
    intake,
  });
}

const compiledIntakes = new Map<string, ReturnType<typeof compileIntake>>();
function compiled(name: keyof typeof INTAKES) {
  const known = compiledIntakes.get(name) ?? compileIntake(INTAKES[name]);
  compiledIntakes.set(name, known);
  return known;
}
