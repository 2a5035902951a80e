/** What a command says to the person who runs it. Logs go elsewhere. */
export const print = (line = ""): void => {
  process.stdout.write(`${line}\n`);
};

export const complain = (line: string): void => {
  process.stderr.write(`${line}\n`);
};
