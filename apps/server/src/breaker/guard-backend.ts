import type { Backend } from "@formbridge/core";
import type { Access, Breaker } from "./breaker.ts";

/** `own`: doesn't use the backend, or must not fail with it. */
type Kind = Access | "own";
type PortName = Exclude<
  keyof Backend,
  "close" | "releaseLeases" | "alarmWindows" | "sizes" | "isShared" | "jobsWaiting" | "connectionsInUse"
>;

/** How every method of every port uses the backend. */
const ACCESS: { [Port in PortName]: { [Method in keyof Backend[Port]]: Kind } } = {
  store: { load: "read", commit: "write" },
  tokens: { find: "read", query: "read", count: "read", forgetExpired: "write", health: "own" },
  // The queue is in this process.
  idempotency: { enter: "own", find: "read", search: "read", expired: "read", health: "own" },
  events: { read: "read", feed: "read" },
  jobs: { claim: "write", settle: "write", count: "read" },
  deadlines: { now: "read", expired: "read", warnable: "read" },
  intakes: { get: "read", definition: "read", list: "read", count: "read", put: "write", retire: "write" },
  keys: { find: "read", get: "read", list: "read", count: "read", add: "write", revoke: "write" },
  submissions: { list: "read", count: "read", tenants: "read" },
  handoffs: { ofSubmission: "read", list: "read", count: "read", forgetExpired: "write" },
  webhooks: {
    add: "write",
    get: "read",
    list: "read",
    count: "read",
    update: "write",
    hold: "write",
    remove: "write",
    claim: "write",
    settle: "write",
  },
  reviewLinks: { forgetExpired: "write" },
  retention: { definitions: "read", endedBefore: "read", removeErased: "write" },
  publications: {
    horizon: "read",
    list: "read",
    count: "read",
    get: "read",
    earliest: "read",
    restamp: "write",
  },
  incidents: {
    add: "write",
    get: "read",
    latest: "read",
    update: "write",
    list: "read",
    count: "read",
    due: "read",
    forget: "write",
  },
  blocks: { add: "write", remove: "write", list: "read", forget: "write" },
  secretChecks: { list: "read", replace: "write" },
  sealedRows: { page: "read", replace: "write" },
};

type AnyMethod = (...args: unknown[]) => Promise<unknown>;

function guardPort<Port extends object>(port: Port, access: { [Method in keyof Port]: Kind }, breaker: Breaker): Port {
  const methods = Object.entries<Kind>(access).map(([name, kind]) => {
    const method = Reflect.get(port, name) as AnyMethod;
    const guarded: AnyMethod =
      kind === "own" ? method.bind(port) : (...args) => breaker.guard(kind, () => method.apply(port, args));
    return [name, guarded];
  });
  return Object.fromEntries(methods) as Port;
}

/** The same backend behind a circuit breaker: while it is open, calls throw `StoreDown` and don't reach the backend. */
export function guardBackend(backend: Backend, breaker: Breaker): Backend {
  const ports = Object.keys(ACCESS) as PortName[];
  const guarded = Object.fromEntries(
    ports.map((name) => [name, guardPort<object>(backend[name], ACCESS[name], breaker)]),
  ) as Pick<Backend, PortName>;
  return {
    ...backend,
    ...guarded,
    tokens: { ...guarded.tokens, health: breaker.health },
    idempotency: { ...guarded.idempotency, health: breaker.health },
    sizes: () => breaker.guard("read", () => backend.sizes()),
    jobsWaiting: () => breaker.guard("read", () => backend.jobsWaiting()),
    async close() {
      breaker.stop();
      await backend.close();
    },
  };
}
