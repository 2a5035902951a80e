import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

interface LockedPackage {
  readonly optionalDependencies?: Record<string, string>;
  readonly resolved?: string;
}

const lock = JSON.parse(readFileSync(new URL("../package-lock.json", import.meta.url), "utf8")) as {
  packages: Record<string, LockedPackage>;
};

/** Node's own lookup: the folder's `node_modules`, then that of each folder above it. */
function isLocked(from: string, name: string): boolean {
  const folders = from === "" ? [] : from.split("/node_modules/");
  for (let depth = folders.length; depth >= 0; depth -= 1) {
    const folder = folders.slice(0, depth).join("/node_modules/");
    if (`${folder === "" ? "" : `${folder}/`}node_modules/${name}` in lock.packages) return true;
  }
  return false;
}

describe("package-lock.json", () => {
  // `npm ci` refuses a lock file that lacks an optional package, on every platform. Biome, knip, Vite and rolldown are pinned to the
  // newest versions whose platform packages were all published.
  it("locks every optional platform package, so that npm ci works on Linux, macOS and Windows", () => {
    const missing = Object.entries(lock.packages).flatMap(([path, locked]) =>
      Object.keys(locked.optionalDependencies ?? {}).filter((name) => !isLocked(path, name)),
    );
    expect(missing).toEqual([]);
  });

  it("names no registry", () => {
    const resolved = Object.values(lock.packages).flatMap((locked) => locked.resolved ?? []);
    expect(resolved.filter((address) => address.includes("://"))).toEqual([]);
  });
});
