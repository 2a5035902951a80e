import { join } from "node:path";
import { expect } from "vitest";
import { type Account, accountFor, untilEnded, untilPrinted } from "./programs.ts";

/** A disk that can safely be filled: a tmpfs in its own namespace, which ordinary users can create too. */
export interface SmallDisk {
  /** Starts programs that see it. */
  account: Account;
  /** Fills it, as something else's log would. */
  fill(): Promise<void>;
  makeRoom(): Promise<void>;
  remove(): void;
}

/** PostgreSQL refuses to run as root, even where root has no special rights. */
const NOBODY_SPECIAL = ["unshare", "--user", "--map-user=1000", "--map-group=1000"];

const IN_ENGLISH = { env: { PATH: process.env.PATH, LC_ALL: "C" } };

/** Mounts it over a folder that belongs to the user, until it is removed or the test run ends. */
export async function mountSmallDisk(user: string, folder: string, megabytes: number): Promise<SmallDisk> {
  const owner = accountFor(user);
  // The pipe ends with the process that started it, and the disk with the pipe.
  const script = `mount -t tmpfs -o size=${megabytes}m,mode=700 tmpfs "$0" && echo mounted && exec cat`;
  const holder = owner.start("unshare", ["--user", "--map-root-user", "--mount", "sh", "-c", script, folder], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  await untilPrinted(holder, "mounted");
  const enter = ["--target", String(holder.pid), "--user", "--mount", "--preserve-credentials", ...NOBODY_SPECIAL];
  const account: Account = {
    own: owner.own,
    // The setting that ends a program with the test run is lost inside the namespace, so set it again.
    start: (file, args, options) =>
      owner.start("nsenter", [...enter, "setpriv", "--pdeathsig=QUIT", file, ...args], options),
  };
  const filler = join(folder, "filler");
  return {
    account,
    async fill() {
      const filling = untilEnded(account.start("dd", ["if=/dev/zero", `of=${filler}`, "bs=64k"], IN_ENGLISH));
      await expect(filling).rejects.toThrow("No space left on device");
    },
    makeRoom: () => untilEnded(account.start("rm", [filler])),
    remove: () => void holder.kill("SIGKILL"),
  };
}
