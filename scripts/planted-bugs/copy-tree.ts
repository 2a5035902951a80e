import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Links of the workspace to its own packages: in a copy they must lead to the copy's. */
const OWN = "@formbridge";

export interface TreeCopy {
  path: string;
  remove(): void;
}

/** The working tree as it is, with what is not committed yet, in a temporary folder. Dependencies are linked, not copied. */
export function copyTree(root: string): TreeCopy {
  const path = mkdtempSync(join(tmpdir(), "formbridge-planted-"));
  const listed = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const files = execFileSync("git", listed, { cwd: root, encoding: "utf8" }).split("\0");
  for (const file of new Set(files)) {
    // Git still lists what was deleted and not committed.
    if (file !== "" && existsSync(join(root, file))) cpSync(join(root, file), join(path, file));
  }
  linkModules(join(root, "node_modules"), join(path, "node_modules"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function linkModules(from: string, to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    if (name === OWN) cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
    // What tools keep for themselves stays where it belongs.
    else if (name === ".bin" || !name.startsWith(".")) symlinkSync(join(from, name), join(to, name));
  }
}
