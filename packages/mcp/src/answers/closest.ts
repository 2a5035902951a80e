/** Edit distance in single characters. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1];
    for (const [j, against] of [...other].entries()) {
      const swap = (row[j] ?? 0) + (letter === against ? 0 : 1);
      next.push(Math.min(swap, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

const MAX_LENGTH = 100;
const MIN_PART = 4;

/** The known names that `name` is most likely a misspelling of, closest first. */
export function closestNames(name: string, known: readonly string[]): string[] {
  const wanted = plain(name.slice(0, MAX_LENGTH));
  const near = known.map((candidate) => ({ candidate, far: farness(wanted, plain(candidate)) }));
  return near
    .filter(({ far }) => far < Number.POSITIVE_INFINITY)
    .toSorted((one, other) => one.far - other.far)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/** Accepts typos in up to two fifths of the letters, or a name that contains the other. */
function farness(wanted: string, candidate: string): number {
  const edits = distance(wanted, candidate);
  if (edits <= Math.max(1, Math.floor(Math.min(wanted.length, candidate.length) / 2.5))) return edits;
  const holds = wanted.includes(candidate) || candidate.includes(wanted);
  return holds && Math.min(wanted.length, candidate.length) >= MIN_PART ? 100 + edits : Number.POSITIVE_INFINITY;
}
