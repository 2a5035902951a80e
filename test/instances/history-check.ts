/**
 * Whether what callers saw of one submission could have come from a single copy of it, changed by one write after the other. Pure: it
 * gets every call with its times, and what the server reports in the end.
 */

/** One call, with the times of one monotonic clock. */
export interface Call {
  /** Who made the call. Calls that repeat one write share it, and so does the event of the write. */
  by: string;
  kind: "create" | "setFields" | "submit" | "validate" | "read";
  began: number;
  ended: number;
  /** `unknown`: there was no response. It may be executed, now or later, or never. */
  outcome: "done" | "replayed" | "refused" | "unknown";
  /** The version of its token; 0 for a create. */
  base?: number;
  /** The version in the response: a write's own, otherwise the current one. */
  version?: number;
  /** What a write sets, or what a read was shown. */
  fields?: Readonly<Record<string, string>>;
}

export interface History {
  calls: readonly Call[];
  /** The writes in the event stream, in its order. */
  chain: readonly { version: number; by: string }[];
  end: { version: number; fields: Readonly<Record<string, string>> };
}

const isWrite = ({ kind }: Call): boolean => kind === "create" || kind === "setFields" || kind === "submit";
const wasDone = ({ outcome }: Call): boolean => outcome === "done" || outcome === "replayed";
const named = ({ kind, by, version }: Call): string =>
  `${kind} by ${by}${version === undefined ? "" : ` (${version})`}`;

/** Everything that one copy could not have done, as messages; empty if there is nothing. */
export function checkHistory(history: History): string[] {
  return [
    ...chainFaults(history),
    ...answerFaults(history),
    ...orderFaults(history.calls),
    ...foresightFaults(history),
    ...contentFaults(history),
  ];
}

/** One chain without forks: every version once, by a caller who made the write once and was not refused, on the previous version. */
function chainFaults({ calls, chain }: History): string[] {
  const faults: string[] = [];
  const writes = Map.groupBy(calls.filter(isWrite), ({ by }) => by);
  const seen = new Set<string>();
  for (const [index, { version, by }] of chain.entries()) {
    const asked = writes.get(by) ?? [];
    if (version !== index + 1) faults.push(`chain: version ${version} stands at place ${index + 1}`);
    if (seen.has(by)) faults.push(`doubled: ${by} was executed twice`);
    seen.add(by);
    if (asked.length === 0) faults.push(`chain: nobody asked for version ${version} by ${by}`);
    else if (asked.every(({ outcome }) => outcome === "refused")) faults.push(`chain: ${by} was refused, but executed`);
    const wrongBase = asked.find(({ base }) => base !== version - 1);
    if (wrongBase !== undefined) faults.push(`fork: ${by} made version ${version} of ${wrongBase.base}`);
  }
  return faults;
}

/** What was acknowledged is in the chain, at the reported version. */
function answerFaults({ calls, chain }: History): string[] {
  const faults: string[] = [];
  const places = new Map(chain.map(({ version, by }) => [by, version]));
  const winners = new Map<number | undefined, string>();
  for (const call of calls) {
    if (call.kind === "validate" && wasDone(call) && call.version !== call.base) {
      faults.push(`fork: ${named(call)} with the token of ${call.base}`);
    }
    // A token is refused as stale only when there is a later one.
    if (call.outcome === "refused" && (call.version ?? Number.POSITIVE_INFINITY) <= (call.base ?? -1)) {
      faults.push(`chain: ${named(call)} was refused as stale with the current token`);
    }
    if (!isWrite(call) || !wasDone(call)) continue;
    const winner = winners.get(call.version) ?? call.by;
    winners.set(call.version, winner);
    if (winner !== call.by) faults.push(`fork: ${named(call)} and ${winner} got the same version`);
    const place = places.get(call.by);
    if (place === undefined) faults.push(`lost: ${named(call)} was acknowledged, but is not in the chain`);
    else if (place !== call.version) faults.push(`order: ${named(call)} stands at ${place}`);
  }
  return faults;
}

/** Real time: a call that began after a response sees at least what that response showed, and a write comes after it. */
function orderFaults(calls: readonly Call[]): string[] {
  const faults: string[] = [];
  const told = calls.filter(({ outcome, version }) => outcome !== "unknown" && version !== undefined);
  const byEnd = told.toSorted((one, other) => one.ended - other.ended);
  let next = 0;
  let floor = 0;
  for (const call of told.toSorted((one, other) => one.began - other.began)) {
    for (let before = byEnd[next]; before !== undefined && before.ended < call.began; before = byEnd[next]) {
      floor = Math.max(floor, before.version ?? 0);
      next += 1;
    }
    // A replay returns what was recorded then.
    if (call.outcome === "replayed") continue;
    const version = call.version ?? 0;
    const isNew = isWrite(call) && call.outcome === "done";
    if (isNew && version <= floor) faults.push(`order: ${named(call)} began after version ${floor} was returned`);
    if (!isNew && version < floor) faults.push(`stale: ${named(call)} began after version ${floor} was returned`);
  }
  return faults;
}

/** Nobody sees a version before somebody has requested it. */
function foresightFaults({ calls, chain }: History): string[] {
  const askedAt = new Map<string, number>();
  for (const { by, began } of calls.filter(isWrite)) askedAt.set(by, Math.min(began, askedAt.get(by) ?? began));
  return calls.flatMap((call) => {
    const author = chain[(call.version ?? 0) - 1]?.by;
    const asked = author === undefined ? undefined : askedAt.get(author);
    return asked !== undefined && asked > call.ended ? [`order: ${named(call)} ended before it was asked for`] : [];
  });
}

/** What a version contains follows from the writes up to it. */
function contentFaults({ calls, chain, end }: History): string[] {
  const sets = new Map(calls.filter(isWrite).map(({ by, fields }) => [by, fields]));
  const contents: Record<string, string>[] = [{}];
  for (const { by } of chain) contents.push({ ...contents.at(-1), ...sets.get(by) });
  const isAt = (version: number, fields: History["end"]["fields"]): boolean => {
    const expected = Object.entries(contents[version] ?? {});
    return expected.length === Object.keys(fields).length && expected.every(([name, value]) => fields[name] === value);
  };
  const reads = calls.filter(({ kind, fields }) => kind === "read" && fields !== undefined);
  const wrong = reads.filter(({ version = 0, fields = {} }) => !isAt(version, fields));
  const faults = wrong.map((call) => `content: ${named(call)} saw values that the version never had`);
  if (end.version !== chain.length) faults.push(`lost: it ends at ${end.version}, its chain at ${chain.length}`);
  else if (!isAt(end.version, end.fields)) faults.push("lost: it ends with other values than were written");
  return faults;
}
