/** A bug planted on purpose, and the suites that must notice it. */
export interface PlantedBug {
  name: string;
  /** What it breaks, in a sentence. */
  breaks: string;
  /** Relative to the repository's root. */
  file: string;
  edits: readonly Edit[];
  /** Test files, each of which must fail on its own. */
  caughtBy: readonly string[];
}

export interface Edit {
  /** Must occur in the file exactly once. */
  find: string;
  replace: string;
}

/** The file's text with the bug. Throws if the code no longer matches. */
export function plant(source: string, { name, file, edits }: PlantedBug): string {
  return edits.reduce((text, { find, replace }) => {
    const times = text.split(find).length - 1;
    if (times !== 1) throw new Error(`${name}: found ${times} times in ${file}, not once:\n${find}`);
    return text.replace(find, () => replace);
  }, source);
}
