import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The workspace's links to its own packages, which must lead into the copy. */
const OWN = "@formbridge";

export interface TreeCopy {
  path: string;
  remove(): void;
}

/** The working tree, including uncommitted changes, in a temporary folder. Dependencies are linked, not copied. */
export function copyTree(root: string): TreeCopy {
  const path = mkdtempSync(join(tmpdir(), "formbridge-planted-"));
  const listed = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const files = execFileSync("git", listed, { cwd: root, encoding: "utf8" }).split("\0");
  for (const file of new Set(files)) {
    // Git still lists files that were deleted but not committed.
    if (file !== "" && existsSync(join(root, file))) cpSync(join(root, file), join(path, file));
  }
  linkModules(join(root, "node_modules"), join(path, "node_modules"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function linkModules(from: string, to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    if (name === OWN) cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
    // Don't link the tools' own caches.
    else if (name === ".bin" || !name.startsWith(".")) symlinkSync(join(from, name), join(to, name));
  }
}
