import type { Backend } from "@formbridge/core";
import type { Access, Breaker } from "./breaker.ts";

/** `own`: asks no backend, or must not fail with it. */
type Kind = Access | "own";
type PortName = Exclude<keyof Backend, "close">;

/** Every method of every port, by what it does to the backend. */
const ACCESS: { [Port in PortName]: { [Method in keyof Backend[Port]]: Kind } } = {
  store: { load: "read", commit: "write" },
  tokens: { find: "read", query: "read", count: "read", forgetExpired: "write", health: "own" },
  // The line is this process's own.
  idempotency: { enter: "own", find: "read", keysOf: "read", forgetExpired: "write", health: "own" },
  events: { read: "read", auditHeads: "read", feed: "read" },
  jobs: { claim: "write", settle: "write", count: "read" },
  deadlines: { now: "read", expired: "read", warnable: "read" },
  intakes: { get: "read", definition: "read", list: "read", put: "write", retire: "write" },
  keys: { find: "read", get: "read", list: "read", add: "write", revoke: "write" },
  submissions: { list: "read" },
  handoffs: { ofSubmission: "read", forgetExpired: "write" },
  webhooks: {
    add: "write",
    get: "read",
    list: "read",
    update: "write",
    enable: "write",
    remove: "write",
    claim: "write",
    settle: "write",
  },
  reviewLinks: { forgetExpired: "write" },
  retention: { definitions: "read", endedBefore: "read", removeErased: "write" },
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

/** The same backend behind a breaker: while that is open, calls throw `StoreDown` and nothing is asked or done. */
export function guardBackend(backend: Backend, breaker: Breaker): Backend {
  const guard = <Name extends PortName>(name: Name): Backend[Name] => guardPort(backend[name], ACCESS[name], breaker);
  return {
    store: guard("store"),
    tokens: { ...guard("tokens"), health: breaker.health },
    idempotency: { ...guard("idempotency"), health: breaker.health },
    events: guard("events"),
    jobs: guard("jobs"),
    deadlines: guard("deadlines"),
    intakes: guard("intakes"),
    keys: guard("keys"),
    submissions: guard("submissions"),
    handoffs: guard("handoffs"),
    webhooks: guard("webhooks"),
    reviewLinks: guard("reviewLinks"),
    retention: guard("retention"),
    async close() {
      breaker.stop();
      await backend.close();
    },
  };
}
