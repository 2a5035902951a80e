import type { IntakeResponse, OpenSessionResponse, SubmissionRecord } from "@formbridge/contract";
import { type Caller, ContractError, type Operations } from "@formbridge/core";
import type { FormArguments } from "./form-schemas.ts";

export interface FormCall {
  operations: Operations;
  /** Who holds the connection. It opens nothing here: the form acts in its session alone. */
  caller: Caller;
  args: FormArguments;
}

type Action = FormArguments["action"];

/** What is asked for, by action: the same operations that the page behind a hand-off link calls, in the same session. */
const ACTIONS: Record<Action, (call: FormCall) => Promise<object>> = {
  async open({ operations, caller, args }) {
    const { submissionId, session, code, email, actor } = args;
    const { address } = caller;
    const request = {
      carrier: "header" as const,
      ...(session !== undefined && { session }),
      ...(code !== undefined && { code }),
      ...(email !== undefined && { email }),
      ...(actor !== undefined && { actor }),
    };
    const { body } = await operations.openSession({ caller: { address }, submissionId, request });
    const inSession = { operations, caller, args: { ...args, session: secretOf(body) } };
    const { record } = await withRecord(inSession);
    const intake = await lookOf({ operations, caller, record });
    return { ...body, record, ...(intake && { intake }) };
  },

  read: (call) => withRecord(call),

  async save(call) {
    await call.operations.setFields({ ...writeOf(call), fields: call.args.fields ?? {} });
    return await withRecord(call);
  },

  async upload(call) {
    const { field, filename, mimeType, sizeBytes } = call.args;
    const { operations } = call;
    const upload = { field: asked(field, "field"), filename: asked(filename, "filename") };
    const kind = { mimeType: asked(mimeType, "mimeType"), sizeBytes: asked(sizeBytes, "sizeBytes") };
    const { body } = await operations.requestUpload({ ...writeOf(call), upload: { ...upload, ...kind } });
    const { uploadId, method, url, headers } = body;
    return { ...(await withRecord(call)), upload: { uploadId, method, url, ...(headers && { headers }) } };
  },

  async confirm(call) {
    await call.operations.confirmUpload({ ...writeOf(call), uploadId: asked(call.args.uploadId, "uploadId") });
    return await withRecord(call);
  },

  async submit(call) {
    const { idempotencyKey } = call.args;
    const { body } = await call.operations.submit({ ...writeOf(call), ...(idempotencyKey && { idempotencyKey }) });
    const { ok, submissionId, state, version } = body;
    return { ok, submissionId, state, version };
  },
};

export const callForm = (call: FormCall): Promise<object> => ACTIONS[call.args.action](call);

const secretOf = ({ session }: OpenSessionResponse): string => asked(session, "session");

function asked<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new ContractError("bad_request", `${name} is needed.`);
  return value;
}

/** In the session, and as nobody else: a key beside it would be asked who it is. */
const inSession = ({ caller, args }: FormCall): Caller => ({
  address: caller.address,
  session: asked(args.session, "session"),
});

function writeOf(call: FormCall) {
  const { submissionId, version } = call.args;
  return {
    caller: inSession(call),
    target: { submissionId, tokens: [], versions: version === undefined ? [] : [version] },
  };
}

/** The submission after the call: the form shows what is there, not what it thinks is there. */
async function withRecord(call: FormCall) {
  const { submissionId } = call.args;
  const target = { submissionId, tokens: [], versions: [] };
  const { body } = await call.operations.getSubmission({ caller: inSession(call), target });
  const { ok, state, version } = body;
  return { ok, submissionId, state, version, record: body };
}

/** How the intake wants to be shown, for whoever may see it; only in the version that the submission was begun with. */
async function lookOf(about: {
  operations: Operations;
  caller: Caller;
  record: SubmissionRecord;
}): Promise<Pick<IntakeResponse["intake"], "name" | "description" | "uiHints"> | undefined> {
  const { operations, caller, record } = about;
  try {
    const { body } = await operations.getIntake({ caller, intakeId: record.intakeId });
    const { version, name, description, uiHints } = body.intake;
    if (version !== record.intakeVersion) return undefined;
    return { name, ...(description !== undefined && { description }), ...(uiHints && { uiHints }) };
  } catch (error) {
    if (error instanceof ContractError) return undefined;
    throw error;
  }
}
