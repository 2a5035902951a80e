import { causeOf, type Incident, RESPONSE_LEASE_MS, raise, seenAgain } from "../../domain/alarms/incident.ts";
import type { Context } from "../context.ts";
import { respond } from "./respond.ts";
import type { Tripped } from "./watch.ts";

const DUE_AT_ONCE = 20;

/** Raises what tripped since the last time, and continues responses that another instance left unfinished. */
export async function raiseIncidents(context: Context): Promise<void> {
  const { watch, deps } = context;
  for (const tripped of await watch.evaluate()) {
    const raised = await raiseOne(context, tripped);
    if (raised !== undefined) await respond(context, raised);
  }
  const now = await deps.backend.deadlines.now();
  for (const incident of await deps.backend.incidents.due(now, DUE_AT_ONCE)) {
    const taken = takenOver(incident, now);
    if (await deps.backend.incidents.update(taken)) await respond(context, taken);
  }
  await watch.refreshBlocks();
}

/** Undefined if an incident covers it, or another instance raised it. */
async function raiseOne({ deps }: Context, { signal, rule, count }: Tripped): Promise<Incident | undefined> {
  const { incidents } = deps.backend;
  const previous = await incidents.latest(causeOf(signal));
  const incidentId = deps.random.newId("inc");
  const { alarmBlockMs: blockMs } = deps.settings;
  const incident = raise(signal, { rule, count, ...(previous && { previous }), incidentId, blockMs });
  if (incident === undefined) {
    const seen = previous && seenAgain(previous, signal.at);
    if (seen !== undefined) await incidents.update(seen);
    return undefined;
  }
  if (!(await incidents.add(incident))) return undefined;
  const { kind, evidence } = incident;
  deps.instrumentation.record({ name: "incident", kind, incidentId, ...evidence });
  return incident;
}

const takenOver = (incident: Incident, now: number): Incident => ({
  ...incident,
  revision: incident.revision + 1,
  ...(incident.due && { due: { ...incident.due, at: now + RESPONSE_LEASE_MS } }),
});
