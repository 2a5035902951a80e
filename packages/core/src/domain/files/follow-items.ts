import type { Json, JsonObject } from "@formbridge/contract";
import { type PatchResult, type Path, valueAt } from "../fields/apply-patch.ts";
import { canonicalJson } from "../hashing.ts";
import type { CompiledIntake } from "../intake/compiled-intake.ts";
import { isIndex } from "../intake/schema-nodes.ts";
import type { Upload } from "../submission.ts";

/** What a write to the fields does to pending uploads. */
export interface Followed {
  /** Uploads whose item is now at another place of its list. */
  moved: { uploadId: string; field: string }[];
  /** Uploads whose item was removed. */
  orphaned: Upload[];
}

/**
 * A pending upload belongs to the item of a list that it was announced for, wherever a write moves that item: otherwise
 * its file would end up in the item that is now at the announced index.
 */
export function followItems(
  pending: readonly Upload[],
  write: Pick<PatchResult, "fields" | "removed"> & { before: JsonObject },
  intake: CompiledIntake,
): Followed {
  const followed: Followed = { moved: [], orphaned: [] };
  for (const upload of pending) {
    const path = intake.pathOf(upload.field);
    const place = placeAfter(path, write);
    if (place === undefined) followed.orphaned.push(upload);
    else if (place.join() !== path.join()) followed.moved.push({ uploadId: upload.uploadId, field: place.join(".") });
  }
  return followed;
}

function placeAfter(path: Path, { before, fields, removed }: Parameters<typeof followItems>[1]): string[] | undefined {
  const place: string[] = [];
  for (const [depth, segment] of path.entries()) {
    const was = valueAt(before, path.slice(0, depth));
    if (!Array.isArray(was) || !isIndex(segment)) place.push(segment);
    else {
      const is = valueAt(fields, place);
      const next = indexAfter(Number(segment), {
        was,
        is: Array.isArray(is) ? is : [],
        removed: removed.flatMap((gone) => indexIn(place, gone)),
      });
      if (next === undefined) return undefined;
      place.push(String(next));
    }
  }
  return place;
}

const indexIn = (list: Path, path: Path): number[] =>
  path.length === list.length + 1 && list.every((segment, depth) => path[depth] === segment)
    ? [Number(path[list.length])]
    : [];

interface ListWrite {
  was: readonly Json[];
  is: readonly Json[];
  /** Indices of items that were removed one by one, each as it was at that time. */
  removed: readonly number[];
}

/** The new index of an item; undefined if it was removed. An item that didn't exist yet stays the next one. */
function indexAfter(index: number, { was, is, removed }: ListWrite): number | undefined {
  if (index >= was.length) return is.length < was.length ? index - was.length + is.length : index;
  const left = was.map((item, from) => ({ from, text: canonicalJson(item) }));
  for (const gone of removed) left.splice(gone, 1);
  const at = left.findIndex(({ from }) => from === index);
  if (at === -1) return undefined;
  return indexOfSame(
    at,
    left.map(({ text }) => text),
    is.map((item) => canonicalJson(item)),
  );
}

/** An item is recognised by its value, at the same index first; a changed one by its rank among the changed ones. */
function indexOfSame(at: number, was: readonly string[], is: readonly string[]): number | undefined {
  if (was[at] === is[at]) return at;
  const others = (texts: readonly string[]) => [...texts.keys()].filter((index) => was[index] !== is[index]);
  const before = others(was);
  const after = others(is);
  const rank = before.filter((index) => was[index] === was[at]).indexOf(at);
  const same = after.filter((index) => is[index] === was[at])[rank];
  if (same !== undefined) return same;
  const changed = after.filter((index) => !before.some((other) => was[other] === is[index]));
  if (was.length === is.length && changed.includes(at)) return at;
  return changed[before.filter((index) => !after.some((other) => is[other] === was[index])).indexOf(at)];
}
