import type { SubmissionRecord } from "@formbridge/contract";
import { ContractError, isEditable, type OperationResponse } from "@formbridge/core";
import Type, { type Static } from "typebox";
import { type ToolCall, targetOf } from "../tools/tool.ts";

/** Below the 30 seconds after which proxies and hosts start to cut connections. */
const MAX_WAIT_MS = 25_000;
const TELL_EVERY_MS = 5_000;

export const StatusArguments = Type.Object({
  waitMs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_WAIT_MS,
      description: `Wait up to this many milliseconds, at most ${MAX_WAIT_MS}, until somebody changes the submission. Call again to wait longer.`,
    }),
  ),
  sinceVersion: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        "With waitMs: the version you know; returns at once if there is another. Default: the resumeToken's.",
    }),
  ),
});
type StatusArguments = Static<typeof StatusArguments>;
type Read = OperationResponse<SubmissionRecord>;

/**
 * Reads the submission; with `waitMs`, after it has changed. If the current token has lapsed and the caller's API key
 * may hold it, returns a new one: an agent that can only call tools has no other way to get it.
 */
export async function callStatus(call: ToolCall): Promise<OperationResponse<object>> {
  try {
    return await withLiveToken(call, await look(call));
  } catch (error) {
    const submissionId = lapsedAt(error);
    if (submissionId === undefined || call.caller.apiKey === undefined) throw error;
    const read = await readById(call, submissionId);
    if (read === undefined) throw error;
    return await withLiveToken(call, read);
  }
}

/** The submission whose token has lapsed, if that is why the call failed. */
const lapsedAt = (error: unknown): string | undefined =>
  error instanceof ContractError && error.type === "token_expired" && error.detail.reason === "ttl_elapsed"
    ? error.about.submissionId
    : undefined;

/** Reads with the API key alone. Undefined if the key has no access. */
async function readById({ operations, caller }: ToolCall, submissionId: string): Promise<Read | undefined> {
  try {
    return await operations.getSubmission({ caller, target: { submissionId, tokens: [], versions: [] } });
  } catch (error) {
    if (error instanceof ContractError && error.type === "not_found") return undefined;
    throw error;
  }
}

async function withLiveToken(call: ToolCall, read: Read): Promise<OperationResponse<object>> {
  const { submissionId, state, warning, resumeToken } = read.body;
  const isLapsed = warning?.nextActions?.some(({ action }) => action === "reissue_token") === true;
  if (resumeToken !== undefined || !isLapsed || !isEditable(state)) return read;
  const { operations, caller } = call;
  try {
    await operations.renewToken({ caller, target: { submissionId, tokens: [], versions: [] } });
  } catch (error) {
    // Another call renewed it, or somebody wrote: the token that exists now works.
    if (!(error instanceof ContractError && error.type === "conflict")) throw error;
  }
  const renewed = (await readById(call, submissionId)) ?? read;
  const { tokenExpiresAt } = renewed.body;
  if (tokenExpiresAt === undefined) return renewed;
  const message = `The resume token had expired. This response has a new one, valid until ${tokenExpiresAt}.`;
  return { ...renewed, body: { ...renewed.body, reissued: true, message } };
}

async function look(call: ToolCall): Promise<Read> {
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
