import type { Backend, Courier, Tracing } from "@formbridge/core";

type Call = (...args: unknown[]) => unknown;

/** The same backend; every call that a traced operation makes is a span, named by port and method. */
export function traceBackend(backend: Backend, tracing: Tracing, storage: string): Backend {
  const ports = Object.entries(backend).map(([port, methods]) =>
    typeof methods === "object" && methods !== null
      ? [port, tracedPort(port, methods as Record<string, unknown>, { tracing, storage })]
      : [port, methods],
  );
  return Object.fromEntries(ports) as Backend;
}

function tracedPort(
  port: string,
  methods: Record<string, unknown>,
  { tracing, storage }: { tracing: Tracing; storage: string },
): Record<string, unknown> {
  const traced = (name: string, call: Call): Call => {
    const operation = `${port}.${name}`;
    const attributes = { "storage.backend": storage, operation };
    return (...args) => tracing.span(operation, () => call(...args) as Promise<unknown>, attributes);
  };
  return Object.fromEntries(
    Object.entries(methods).map(([name, member]) => [
      name,
      typeof member === "function" ? traced(name, member as Call) : member,
    ]),
  );
}

/** The same courier; every send is a span, and the receiver gets its position. */
export const traceCourier = (courier: Courier, tracing: Tracing): Courier => ({
  ...courier,
  send: (outgoing, signal) =>
    tracing.span("send", () => {
      const traceparent = tracing.traceparent();
      tracing.describe({ "submission.id": outgoing.submissionId, destination: outgoing.destination.kind });
      return courier.send({ ...outgoing, ...(traceparent !== undefined && { traceparent }) }, signal);
    }),
});
