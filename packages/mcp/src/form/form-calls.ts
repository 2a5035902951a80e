import { type Caller, ContractError, type Operations } from "@formbridge/core";
import { pick } from "../tools/tool.ts";
import type { FormArguments } from "./form-schemas.ts";

export interface FormCall {
  operations: Operations;
  /** Who holds the connection. It grants nothing here: the form acts only in its session. */
  caller: Caller;
  args: FormArguments;
}

type Action = FormArguments["action"];

/** The actions: the same operations, in the same session, as on the page behind a hand-off link. */
const ACTIONS: Record<Action, (call: FormCall) => Promise<object>> = {
  async open({ operations, caller, args }) {
    const { submissionId } = args;
    const request = { carrier: "header" as const, ...pick(args, ["session", "code", "email", "actor"]) };
    const { body } = await operations.openSession({ caller: clientOf(caller), submissionId, request });
    return { ...body, session: asked(body.session, "session") };
  },

  read: (call) => withRecord(call),

  async intake(call) {
    const { body } = await call.operations.getSubmissionIntake(readOf(call));
    return { ...markOf(body), shown: body };
  },

  async events(call) {
    const query = { limit: EVENTS, ...pick(call.args, ["afterEventId"]) };
    const { body } = await call.operations.getEvents({ ...readOf(call), query });
    return { ...markOf(body), history: body };
  },

  async save(call) {
    await call.operations.setFields({ ...writeOf(call), fields: call.args.fields ?? {} });
    return await withRecord(call);
  },

  async upload(call) {
    const { field, filename, mimeType, sizeBytes } = call.args;
    const { operations } = call;
    const announced = { field: asked(field, "field"), filename: asked(filename, "filename") };
    const kind = { mimeType: asked(mimeType, "mimeType"), sizeBytes: asked(sizeBytes, "sizeBytes") };
    const { body } = await operations.requestUpload({ ...writeOf(call), upload: { ...announced, ...kind } });
    return { ...markOf(body), upload: pick(body, ["uploadId", "method", "url", "headers", "resumable"]) };
  },

  async confirm(call) {
    await call.operations.confirmUpload({ ...writeOf(call), uploadId: asked(call.args.uploadId, "uploadId") });
    return await withRecord(call);
  },

  async abandon(call) {
    await call.operations.abandonUpload({ ...writeOf(call), uploadId: asked(call.args.uploadId, "uploadId") });
    return await withRecord(call);
  },

  async complete(call) {
    return markOf((await call.operations.completeHandoff(writeOf(call))).body);
  },

  async submit(call) {
    const { idempotencyKey } = call.args;
    const { body } = await call.operations.submit({ ...writeOf(call), ...(idempotencyKey && { idempotencyKey }) });
    return markOf(body);
  },
};

const EVENTS = 1000;

interface Mark {
  ok: true;
  submissionId: string;
  state: string;
  version: number;
}
const markOf = (body: Mark): Mark => pick(body, ["ok", "submissionId", "state", "version"]);

export const callForm = (call: FormCall): Promise<object> => ACTIONS[call.args.action](call);

function asked<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new ContractError("bad_request", `${name} is needed.`);
  return value;
}

const clientOf = (caller: Caller): Caller => pick(caller, ["address", "userAgent"]);

/** Acts in the session only: with an API key beside it, the key would decide who acts. */
const inSession = ({ caller, args }: FormCall): Caller => ({
  ...clientOf(caller),
  session: asked(args.session, "session"),
});

function writeOf(call: FormCall) {
  const { submissionId, version } = call.args;
  return {
    caller: inSession(call),
    target: { submissionId, tokens: [], versions: version === undefined ? [] : [version] },
  };
}

const readOf = (call: FormCall) => ({
  caller: inSession(call),
  target: { submissionId: call.args.submissionId, tokens: [], versions: [] },
});

/** Adds the submission as it is after the call, so that the form shows what is stored. */
async function withRecord(call: FormCall) {
  const { body } = await call.operations.getSubmission(readOf(call));
  return { ...markOf(body), record: body };
}
