/** A fault put into the code on purpose, and the suites that must notice it. */
export interface PlantedBug {
  name: string;
  /** What is wrong with it, in a sentence. */
  breaks: string;
  /** From the repository's root. */
  file: string;
  edits: readonly Edit[];
  /** Test files, each of which must fail by itself. */
  caughtBy: readonly string[];
}

export interface Edit {
  /** Stands in the file exactly once. */
  find: string;
  replace: string;
}

/** The file's text with the fault in it. Throws when the code has moved on from what the fault was written for. */
export function plant(source: string, { name, file, edits }: PlantedBug): string {
  return edits.reduce((text, { find, replace }) => {
    const times = text.split(find).length - 1;
    if (times !== 1) throw new Error(`${name}: found ${times} times in ${file}, not once:\n${find}`);
    return text.replace(find, () => replace);
  }, source);
}
