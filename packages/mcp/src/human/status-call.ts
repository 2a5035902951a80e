import type { Answer } from "@formbridge/core";
import Type, { type Static } from "typebox";
import { type ToolCall, targetOf } from "../tools/tool.ts";

/** Below the half minute after which proxies and hosts begin to cut lines. */
const MAX_WAIT_MS = 25_000;
const TELL_EVERY_MS = 5_000;

export const StatusArguments = Type.Object({
  waitMs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_WAIT_MS,
      description: `Wait so many milliseconds, at most ${MAX_WAIT_MS}, for somebody to change the submission; then the answer comes at once. Call again to wait longer.`,
    }),
  ),
  sinceVersion: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: "With waitMs: the version you know; another one is answered at once. Without it: the resumeToken's.",
    }),
  ),
});
type StatusArguments = Static<typeof StatusArguments>;

/** Reads the submission; with `waitMs`, when it has changed. */
export async function callStatus(call: ToolCall): Promise<Answer<object>> {
  const { operations, caller, host } = call;
  const { waitMs = 0, sinceVersion } = call.args as StatusArguments;
  const look = { caller, target: targetOf(call) };
  if (waitMs === 0) return await operations.getSubmission(look);
  const since = sinceVersion === undefined ? {} : { sinceVersion };
  if (host.takesTasks) {
    const read = await operations.awaitChange({ ...look, ...since, waitMs: 0, signal: call.signal });
    if (!read.changed) host.waitAsTask(read.body);
    return read;
  }
  const tell = (): void => host.progress("Waiting for a change of the submission.");
  const signal = AbortSignal.any([call.signal, host.stopping]);
  const telling = setInterval(tell, TELL_EVERY_MS);
  try {
    return await operations.awaitChange({ ...look, ...since, waitMs, signal, onWaiting: tell });
  } finally {
    clearInterval(telling);
  }
}
