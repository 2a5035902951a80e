/** Output for the person who runs a command. Logs go elsewhere. */
export const print = (line = ""): void => {
  process.stdout.write(`${line}\n`);
};

export const complain = (line: string): void => {
  process.stderr.write(`${line}\n`);
};
