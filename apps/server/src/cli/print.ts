/** Output for the person who runs a command. Logs go elsewhere. */
export const print = (line = ""): void => {
  process.stdout.write(`${line}\n`);
};

export const complain = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** The command continues, and exits with 1 in the end. */
export const fail = (line: string): void => {
  complain(line);
  process.exitCode = 1;
};

/** Prints rows in columns under their headings. */
export function printTable(headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = headings.map((heading, column) =>
    rows.reduce((widest, row) => Math.max(widest, row[column]?.length ?? 0), heading.length),
  );
  for (const row of [headings, ...rows]) {
    print(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  }
}
