/**
 * Reads what strace saw, and finds responses that were sent before their writes were on disk.
 *
 *   pwrite64(<…-wal>, "…mark…")  ──▶  the rest of its group  ──▶  fdatasync(<…-wal>) = 0  ──▶  write(<socket>, "HTTP/1.1 201 … mark …")
 *
 * Meanwhile another thread may write the next group. A group ends with the page whose header says so: its bytes 5 to 8, the size
 * of the file after a commit, are not zero.
 */

export type Step =
  | { kind: "wal-write"; began: number; text: string; isLastHeader: boolean }
  | { kind: "wal-sync"; began: number; ended: number }
  | { kind: "answer"; began: number; status: number; mark: string };

interface Called {
  name: string;
  args: string;
  began: number;
  ended: number;
  result: string;
}

const WHOLE = /^(\d+)\s+(\w+)\((.*)\)\s+= (-?\d+|\?)/;
const UNFINISHED = /^(\d+)\s+(\w+)\((.*?)\s*<unfinished \.\.\.>$/;
const RESUMED = /^(\d+)\s+<\.\.\. (\w+) resumed>(.*)\)\s+= (-?\d+|\?)/;

/** Calls in the order in which they began. An earlier line happened earlier. */
function calls(trace: string): Called[] {
  const found: Called[] = [];
  const running = new Map<string, Called>();
  for (const [moment, line] of trace.split("\n").entries()) {
    const whole = WHOLE.exec(line);
    if (whole !== null) {
      const [, , name = "", args = "", result = ""] = whole;
      found.push({ name, args, began: moment, ended: moment, result });
      continue;
    }
    const unfinished = UNFINISHED.exec(line);
    if (unfinished !== null) {
      const [, pid = "", name = "", args = ""] = unfinished;
      const call: Called = { name, args, began: moment, ended: Number.POSITIVE_INFINITY, result: "?" };
      running.set(`${pid} ${name}`, call);
      found.push(call);
      continue;
    }
    const resumed = RESUMED.exec(line);
    if (resumed === null) continue;
    const [, pid = "", name = "", rest = "", result = ""] = resumed;
    const call = running.get(`${pid} ${name}`);
    if (call !== undefined) Object.assign(call, { args: call.args + rest, ended: moment, result });
  }
  return found;
}

const ON_WAL = /^\d+<[^>]*-wal>/;
const HEADER = /^\d+<[^>]*>, "((?:[^"\\]|\\.)*)"(?:\.\.\.)?, 24, \d+$/s;
const BYTE = /\\[0-7]{1,3}|\\.|[^\\]/gs;

/** Does the page with this header end a group? */
function isLastHeader(args: string): boolean {
  const bytes = HEADER.exec(args)?.[1]?.match(BYTE) ?? [];
  return bytes.slice(4, 8).some((byte) => !/^\\0+$/.test(byte));
}

const ANSWER = /HTTP\/1\.1 (\d{3}) /g;
const MARK = /x-request-id: ([\w-]+)/i;

export function readTrace(trace: string): Step[] {
  return calls(trace).flatMap((call): Step[] => {
    const { name, args, began, ended, result } = call;
    if (ON_WAL.test(args)) {
      if (name === "pwrite64" || name === "write")
        return [{ kind: "wal-write", began, text: args, isLastHeader: isLastHeader(args) }];
      return (name === "fsync" || name === "fdatasync") && result === "0" ? [{ kind: "wal-sync", began, ended }] : [];
    }
    // A call may contain several responses, and a response begins with its status line.
    return [...args.matchAll(ANSWER)].map((found): Step => {
      const mark = MARK.exec(args.slice(found.index))?.[1] ?? "";
      return { kind: "answer", began, status: Number(found[1]), mark };
    });
  });
}

/** The threads that wrote to the log. */
export const writersOfLog = (trace: string): Set<string> =>
  new Set([...trace.matchAll(/^(\d+)\s+pwrite64\(\d+<[^>]*-wal>/gm)].map(([, thread = ""]) => thread));

export interface Verdict {
  /** Responses to writes that were checked. */
  answers: number;
  /** Syncs of the log before the last of them. */
  syncs: number;
  problems: string[];
}

/** For every acknowledged write: its group was written to the log, the log was synced, and only then the response was sent. */
export function judgeTrace(trace: string, marks: ReadonlySet<string>): Verdict {
  const steps = readTrace(trace);
  const writes = steps.filter((step) => step.kind === "wal-write");
  const syncs = steps.filter((step) => step.kind === "wal-sync");
  const answers = steps.filter((step) => step.kind === "answer" && step.status < 300 && marks.has(step.mark));
  const problems = answers.flatMap((answer) => {
    if (answer.kind !== "answer") return [];
    const { mark, began } = answer;
    const isSynced = (from: number): boolean => syncs.some((sync) => sync.began > from && sync.ended < began);
    const own = writes.findIndex((write) => write.began < began && write.text.includes(mark));
    if (own === -1) return [`${mark} was acknowledged before its bytes were in the log`];
    // The header comes before its page.
    const last = writes[writes.findIndex((write, index) => index >= own - 1 && write.isLastHeader) + 1];
    if (last === undefined || last.began > began)
      return [`${mark} was acknowledged before all of its group was in the log`];
    return isSynced(last.began) ? [] : [`${mark} was acknowledged before its bytes were synced`];
  });
  return { answers: answers.length, syncs: syncs.length, problems };
}
