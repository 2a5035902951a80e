import {
  countLost,
  resealed,
  SEALED_KINDS,
  type SealedKind,
  type SealedRow,
  type SealedRows,
  type Sealer,
} from "@formbridge/core";

const PAGE = 500;
/** A server that writes meanwhile may copy an old seal into its change; the next pass finds it. */
const MAX_PASSES = 10;

async function* pagesOf(rows: SealedRows, kind: SealedKind): AsyncGenerator<SealedRow[], void, undefined> {
  let after: SealedRow | undefined;
  for (;;) {
    const page = await rows.page(kind, PAGE, after);
    if (page.length === 0) return;
    yield page;
    after = page.at(-1);
  }
}

/** How many values none of the configured secrets opens, by kind; only kinds that have some. */
export async function lostValues(rows: SealedRows, sealer: Sealer): Promise<Map<SealedKind, number>> {
  const lost = new Map<SealedKind, number>();
  for (const kind of SEALED_KINDS) {
    for await (const page of pagesOf(rows, kind)) {
      const count = page.reduce((sum, row) => sum + countLost(sealer, row), 0);
      if (count > 0) lost.set(kind, count + (lost.get(kind) ?? 0));
    }
  }
  return lost;
}

/**
 * Reseals with the newest secret everything sealed with an older one; servers may keep running. It can be interrupted
 * and run again. Returns how many rows it changed.
 */
export async function resealStore(rows: SealedRows, sealer: Sealer, progress: (line: string) => void): Promise<number> {
  let total = 0;
  for (let pass = 1; pass <= MAX_PASSES; pass++) {
    let old = 0;
    for (const kind of SEALED_KINDS) {
      let [seen, changed] = [0, 0];
      for await (const page of pagesOf(rows, kind)) {
        const stale = page.flatMap((row) => {
          const texts = resealed(sealer, row);
          return texts === undefined ? [] : [{ row, texts }];
        });
        for (const { row, texts } of stale) if (await rows.replace(row, texts)) changed += 1;
        old += stale.length;
        seen += page.length;
        progress(`${kind}: ${seen} checked, ${changed} resealed`);
      }
      total += changed;
    }
    if (old === 0) return total;
  }
  throw new Error(
    "Servers keep writing what an older secret has sealed. Restart them with the new one in front, then run this again.",
  );
}
