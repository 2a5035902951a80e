import { type AlarmRule, ruleFor } from "../../domain/alarms/alarm.ts";
import type { Block } from "../../domain/alarms/incident.ts";
import { type Observation, type Signal, signalsOf, trips } from "../../domain/alarms/signals.ts";
import { ContractError } from "../../domain/error.ts";
import { type Instant, toIso } from "../../domain/instant.ts";
import type { Mark } from "../../ports/alarm-windows.ts";
import type { Caller } from "../caller.ts";
import type { Deps } from "../deps.ts";
import { networkOf } from "../identity/network-of.ts";
import { DEFAULT_TENANT } from "../keys.ts";
import type { Catalog } from "../read/catalog.ts";

/** How many signals wait for the next flush; a flood beyond that is dropped and counted. */
const MAX_SIGNALS = 20_000;
/** How many blocks an instance reads. */
const MAX_BLOCKS = 10_000;

/** A signal whose alarm tripped. */
export interface Tripped {
  signal: Signal;
  rule: AlarmRule;
  count: number;
}

/**
 * Watches how tokens are used. Calls only leave signals in memory; `evaluate` counts them in windows that all instances share, with
 * every flush of the audit trail.
 */
export interface Watch {
  observe(seen: Observation): void;
  /** Counts the signals since the last call; returns those whose alarms tripped, one per alarm and subject. Keeps them if counting fails. */
  evaluate(): Promise<Tripped[]>;
  /** Reads the blocks, which other instances may have changed. */
  refreshBlocks(): Promise<void>;
  /**
   * Refuses a caller without an API key whose address is blocked in this tenant. The operator's tenant blocks an address
   * for the whole server.
   */
  refuseBlocked(caller: Caller, tenant?: string): Promise<void>;
}

export function createWatch(deps: Deps, catalog: Catalog): Watch {
  const { alarms } = deps.settings;
  const rules = alarms === false ? {} : alarms;
  let pending = new Map<string, Signal>();
  let drawn = 0;
  let blocked: ReadonlyMap<string, Instant> = new Map();
  let loading: Promise<void> | undefined;
  const unique = (): string => `${deps.random.process}.${++drawn}`;

  function keep(signal: Signal): void {
    if (rules[signal.kind] === undefined && signal.definition === undefined) return;
    const key = JSON.stringify([signal.kind, signal.tenant, signal.subject, signal.member]);
    if (pending.size >= MAX_SIGNALS && !pending.has(key)) {
      deps.instrumentation.record({ name: "alarm_signals", outcome: "dropped", count: 1 });
      return;
    }
    pending.set(key, signal);
  }

  async function withRule(signal: Signal): Promise<{ signal: Signal; rule: AlarmRule } | undefined> {
    const { kind, definition } = signal;
    const intake = definition === undefined ? undefined : await catalog.byDigest(definition);
    const rule = ruleFor(kind, rules, intake?.definition.alarms);
    return rule && { signal, rule };
  }

  async function refreshBlocks(): Promise<void> {
    const { backend } = deps;
    const from = await backend.deadlines.now();
    const ends = new Map<string, Instant>();
    for (const block of await backend.blocks.list({ from }, MAX_BLOCKS)) {
      const place = placeOf(block);
      ends.set(place, Math.max(block.endsAt, ends.get(place) ?? 0));
    }
    blocked = ends;
  }

  return {
    observe(seen) {
      if (alarms === false) return;
      for (const signal of signalsOf(seen, { unique, operator: DEFAULT_TENANT })) keep(signal);
    },
    async evaluate() {
      const signals = pending;
      pending = new Map();
      try {
        const ruled = (await Promise.all([...signals.values()].map(withRule))).filter((one) => one !== undefined);
        const tripped = await countAll(deps, ruled);
        if (signals.size > 0)
          deps.instrumentation.record({ name: "alarm_signals", outcome: "counted", count: signals.size });
        return tripped;
      } catch (error) {
        for (const signal of signals.values()) keep(signal);
        throw error;
      }
    },
    refreshBlocks,
    async refuseBlocked(caller, tenant = DEFAULT_TENANT) {
      loading ??= refreshBlocks().catch((error: unknown) => {
        loading = undefined;
        throw error;
      });
      await loading;
      if (blocked.size === 0) return;
      const endsAt = blocked.get(placeOf({ tenant, network: networkOf(caller.address) }));
      if (endsAt === undefined) return;
      const now = await deps.backend.deadlines.now();
      if (endsAt > now) throw addressBlocked(endsAt, now);
    },
  };
}

const placeOf = ({ tenant, network }: Pick<Block, "tenant" | "network">): string => `${tenant} ${network}`;

const addressBlocked = (endsAt: Instant, now: Instant): ContractError =>
  new ContractError(
    "forbidden",
    `Calls from your address are blocked until ${toIso(endsAt)}. Ask the operator if this is a mistake, or use an API key.`,
    { reason: "address_blocked", retryAfterMs: endsAt - now },
  );

/** Counts everything in one call. The last signal of an alarm and subject represents all of them. */
async function countAll(
  { alarmWindows }: Deps,
  ruled: readonly { signal: Signal; rule: AlarmRule }[],
): Promise<Tripped[]> {
  const counted = ruled.filter(({ signal }) => signal.figure === undefined);
  const counts = counted.length === 0 ? [] : await alarmWindows.add(counted.map(markOf));
  const values = new Map(counted.map(({ signal }, index) => [signal, counts[index] ?? 0]));
  const tripped = new Map<string, Tripped>();
  for (const { signal, rule } of ruled) {
    const count = values.get(signal) ?? signal.figure ?? 0;
    const { kind, tenant, subject } = signal;
    if (trips(kind, count, rule)) tripped.set(JSON.stringify([kind, tenant, subject]), { signal, rule, count });
  }
  return [...tripped.values()];
}

const markOf = ({ signal, rule }: { signal: Signal; rule: AlarmRule }): Mark => ({
  window: JSON.stringify([signal.kind, signal.tenant, signal.subject]),
  member: signal.member,
  at: signal.at,
  windowMs: rule.windowMs,
  atMost: rule.threshold + 1,
});
