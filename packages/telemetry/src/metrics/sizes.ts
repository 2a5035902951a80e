import type { Backend, Measure, StoreSizes } from "@formbridge/core";

/** Keeps track of how much the store holds, without scanning it every time. */
export interface SizeKeeper {
  tokensChanged(by: number): void;
  record(measure: Measure): void;
  /** Counts once and then follows the changes; asks a shared store each time. */
  refresh(backend: Backend): Promise<void>;
  current(): StoreSizes | undefined;
}

export function createSizeKeeper(): SizeKeeper {
  let tokens = 0;
  let records = new Map<string, number>();
  let isKnown = false;
  const changeRecords = (intakeId: string, by: number): void =>
    void records.set(intakeId, Math.max(0, (records.get(intakeId) ?? 0) + by));
  return {
    tokensChanged(by) {
      tokens += by;
    },
    record(measure) {
      if (measure.name === "key_stored") changeRecords(measure.key.intakeId, 1);
      else if (measure.name === "key_expired") changeRecords(measure.key.intakeId, -1);
    },
    async refresh(backend) {
      if (isKnown && !backend.isShared) return;
      const sizes = await backend.sizes();
      tokens = sizes.tokens;
      // An intake whose last record was deleted is reported as 0 rather than left out.
      const gone = [...records.keys()].map((intakeId): [string, number] => [intakeId, 0]);
      records = new Map([...gone, ...Object.entries(sizes.records)]);
      isKnown = true;
    },
    current: () => (isKnown ? { tokens: Math.max(0, tokens), records: Object.fromEntries(records) } : undefined),
  };
}
