import type { OpenPage } from "./paging.ts";

/** A page may take several reads, and is short or empty if these weren't enough. */
const MAX_LOOKS = 5;

interface Source<Row, Item> {
  /** Rows behind `last`, or the first ones. */
  read(last: string | undefined, limit: number): Promise<readonly Row[]>;
  idOf(row: Row): string;
  /** Undefined for a row that this caller isn't shown. */
  itemOf(row: Row): Promise<Item | undefined> | Item | undefined;
}

/** Fills a page of a list of which the caller isn't shown every row. `next` is where the following page starts. */
export async function fillPage<Row, Item>(
  { after, limit }: Pick<OpenPage, "after" | "limit">,
  { read, idOf, itemOf }: Source<Row, Item>,
): Promise<{ items: Item[]; next: string | undefined }> {
  const items: Item[] = [];
  let last = after;
  for (let looks = 1; ; looks++) {
    const rows = await read(last, limit + 1);
    for (const row of rows) {
      const item = await itemOf(row);
      if (item !== undefined && items.length === limit) return { items, next: last };
      last = idOf(row);
      if (item !== undefined) items.push(item);
    }
    if (rows.length <= limit) return { items, next: undefined };
    if (looks >= MAX_LOOKS) return { items, next: last };
  }
}
