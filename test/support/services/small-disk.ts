import { join } from "node:path";
import { expect } from "vitest";
import { type Account, accountFor, untilEnded, untilPrinted } from "./programs.ts";

/** A disk that can be filled without harm: a tmpfs in a namespace of its own. An ordinary user may make one, too. */
export interface SmallDisk {
  /** Starts programs that see it. */
  account: Account;
  /** As a log of something else would. */
  fill(): Promise<void>;
  makeRoom(): Promise<void>;
  remove(): void;
}

/** PostgreSQL refuses to be root, also where root is nobody special. */
const NOBODY_SPECIAL = ["unshare", "--user", "--map-user=1000", "--map-group=1000"];

const IN_ENGLISH = { env: { PATH: process.env.PATH, LC_ALL: "C" } };

/** Mounts it over a folder that belongs to the user. It is there until it is removed, or the test run ends. */
export async function mountSmallDisk(user: string, folder: string, megabytes: number): Promise<SmallDisk> {
  const owner = accountFor(user);
  // The pipe from here ends with the process that started it, and the disk with the pipe.
  const script = `mount -t tmpfs -o size=${megabytes}m,mode=700 tmpfs "$0" && echo mounted && exec cat`;
  const holder = owner.start("unshare", ["--user", "--map-root-user", "--mount", "sh", "-c", script, folder], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  await untilPrinted(holder, "mounted");
  const enter = ["--target", String(holder.pid), "--user", "--mount", "--preserve-credentials", ...NOBODY_SPECIAL];
  const account: Account = {
    own: owner.own,
    // What ends a program with the test run is lost on the way in, and has to be asked for again.
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
