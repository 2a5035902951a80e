import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { tempFolder } from "../support/child.ts";
import type { Loose } from "../support/harness.ts";
import { until } from "../support/moves.ts";
import { findProgram } from "../support/services/programs.ts";
import { judgeTrace, writersOfLog } from "./sync-trace.ts";

const isLong = process.env.FORMBRIDGE_LONG === "1";
const SUBMISSIONS = isLong ? 1_000 : 250;
const CLIENTS = 8;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CALLS = "fsync,fdatasync,pwrite64,write,writev,sendto,sendmsg";
/** Whole pages of the log, and whole responses. */
const TEXT_BYTES = 4200;

/** Marks of the acknowledged writes, and what strace saw of them. */
async function traceUnderLoad(): Promise<{ trace: string; marks: Set<string> }> {
  const folder = tempFolder();
  const file = join(folder.path, "trace");
  try {
    const command = [process.execPath, join(ROOT, "apps/server/bin/formbridge.mjs"), "serve"];
    const options = ["-f", "--seccomp-bpf", "-y", "-s", String(TEXT_BYTES), "-e", `trace=${CALLS}`, "-o", file];
    const strace = spawn(findProgram("strace", "strace"), [...options, ...command], {
      cwd: ROOT,
      env: {
        ...process.env,
        FORMBRIDGE_PORT: "0",
        FORMBRIDGE_DATA: folder.path,
        FORMBRIDGE_RATE_LIMIT: "off",
        FORMBRIDGE_LOG_LEVEL: "error",
      },
      stdio: ["ignore", "pipe", "ignore"],
    });
    let printed = "";
    strace.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
    const ended = new Promise((resolve) => strace.on("close", resolve));
    const url = await until(() => /listening on (\S+)/.exec(printed)?.[1], 60_000);
    // Ending strace would only detach it; the server is asked to stop, and strace ends with it.
    const end = async (signal: NodeJS.Signals): Promise<void> => {
      process.kill(Number(/^\d+/.exec(readFileSync(file, "utf8"))?.[0]), signal);
      await ended;
    };
    const marks = await writeALot(url).catch(async (error) => {
      await end("SIGKILL");
      throw error;
    });
    await end("SIGTERM");
    return { trace: readFileSync(file, "utf8"), marks };
  } finally {
    folder.remove();
  }
}

/** All of the same length: no mark is the beginning of another. */
const markOf = (what: string, count: number): string => `mark-${what}-${String(count).padStart(6, "0")}`;

async function writeALot(url: string): Promise<Set<string>> {
  const marks = new Set<string>();
  const client = async (name: number): Promise<void> => {
    for (let count = name; count < SUBMISSIONS; count += CLIENTS) {
      const created = await write(url, {
        method: "POST",
        path: "/intakes/contact/submissions",
        mark: markOf("create", count),
      });
      marks.add(markOf("create", count));
      await write(url, { method: "PATCH", path: `/resume/${created.resumeToken}`, mark: markOf("update", count) });
      marks.add(markOf("update", count));
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, name) => client(name)));
  return marks;
}

async function write(url: string, call: { method: string; path: string; mark: string }): Promise<Loose> {
  const { method, path, mark } = call;
  const fields = { name: mark };
  const response = await fetch(url + path, {
    method,
    headers: { "content-type": "application/json", "x-request-id": mark },
    body: JSON.stringify({
      actor: { kind: "agent", id: "tracer" },
      ...(method === "POST" ? { initialFields: fields } : { fields }),
    }),
  });
  expect(response.status).toBeLessThan(300);
  return await response.json();
}

let seen: { trace: string; marks: Set<string> } | undefined;

test("no write is acknowledged before its bytes are synced to the log", {
  timeout: isLong ? 600_000 : 180_000,
}, async () => {
  seen = await traceUnderLoad();
  const { answers, syncs, problems } = judgeTrace(seen.trace, seen.marks);
  process.stdout.write(`fsync: ${answers} answered writes, ${syncs} syncs of the log\n`);
  expect(problems).toEqual([]);
  expect(answers).toBe(2 * SUBMISSIONS);
  expect(writersOfLog(seen.trace).size, "the main thread writes, and nobody else").toBe(1);
  expect(syncs, "writes that came together were synced together").toBeLessThan(answers + 50);
});

test("the check notices a server that does not sync", () => {
  const { trace = "", marks = new Set<string>() } = seen ?? {};
  const unsynced = trace
    .split("\n")
    .filter((line) => !/f(data)?sync/.test(line))
    .join("\n");
  expect(judgeTrace(unsynced, marks).problems).toHaveLength(marks.size);
});

test("the check notices one failed sync, and one response that was sent too early", () => {
  const lines = (seen?.trace ?? "").split("\n");
  const marks = seen?.marks ?? new Set<string>();
  const [mark = ""] = marks;
  const sent = lines.findIndex((line) => line.includes("HTTP/1.1 201") && line.includes(`x-request-id: ${mark}`));
  const sync = lines.findLastIndex((line, index) => index < sent && /f(data)?sync\(.*-wal>\)\s+= 0/.test(line));
  expect([sent, sync].every((place) => place > 0)).toBe(true);
  const failed = lines.with(sync, (lines[sync] ?? "").replace(/= 0$/, "= -1 EIO (Input/output error)"));
  expect(judgeTrace(failed.join("\n"), marks).problems.join()).toContain(mark);
  const early = [...lines.slice(0, sync), lines[sent] ?? "", ...lines.slice(sync, sent), ...lines.slice(sent + 1)];
  expect(judgeTrace(early.join("\n"), marks).problems).toEqual([
    `${mark} was acknowledged before its bytes were synced`,
  ]);
});

test("the check reads calls that strace split in two, and knows where a group ends", () => {
  const header = (size: string) => `7 pwrite64(20</d/x-wal>, "\\0\\0\\0\\1\\0\\0\\0${size}abcd", 24, 0) = 24`;
  const write = `${header("\\2")}\n7 pwrite64(20</d/x-wal>, "mark-1", 6, 0) = 6`;
  const answer = '7 write(9<socket:[1]>, "HTTP/1.1 201 Created\\r\\nx-request-id: mark-1\\r\\n", 40) = 40';
  const began = "8 fdatasync(20</d/x-wal> <unfinished ...>";
  const ended = "8 <... fdatasync resumed>)              = 0";
  const marks = new Set(["mark-1"]);
  const problemsOf = (...lines: string[]): string[] => judgeTrace(lines.join("\n"), marks).problems;
  expect(problemsOf(write, began, ended, answer)).toEqual([]);
  expect(problemsOf(write, began, answer, ended)).toEqual(["mark-1 was acknowledged before its bytes were synced"]);
  expect(problemsOf(began, write, ended, answer)).toEqual(["mark-1 was acknowledged before its bytes were synced"]);
  expect(problemsOf(answer, write, began, ended)).toEqual(["mark-1 was acknowledged before its bytes were in the log"]);

  // The page with the mark, then another one, which ends the group.
  const first = write.replace(header("\\2"), header("\\0"));
  const rest = write.replace("mark-1", "other");
  expect(problemsOf(first, rest, began, ended, answer)).toEqual([]);
  expect(problemsOf(first, began, ended, rest, answer)).toEqual([
    "mark-1 was acknowledged before its bytes were synced",
  ]);
  expect(problemsOf(first, began, ended, answer, rest)).toEqual([
    "mark-1 was acknowledged before all of its group was in the log",
  ]);
  // What is written while the response is sent belongs to the next group.
  expect(problemsOf(write, began, ended, first.replace("mark-1", "other"), answer)).toEqual([]);
});
