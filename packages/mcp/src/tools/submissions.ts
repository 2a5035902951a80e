import {
  CancelRequest,
  CancelResponse,
  CreateSubmissionRequest,
  CreateSubmissionResponse,
  GetEventsQuery,
  GetEventsResponse,
  GetSubmissionResponse,
  SetFieldsRequest,
  SetFieldsResponse,
  SubmitRequest,
  SubmitResponse,
  ValidateRequest,
  ValidateResponse,
} from "@formbridge/contract";
import { ContractError } from "@formbridge/core";
import Type from "typebox";
import { explain, shortEvent, shortFields, shortPaths } from "../answers/short.ts";
import { callStatus, StatusArguments } from "../human/status-call.ts";
import { actorOf, MARK, pick, type Tool, targetOf, type Words, writeCall } from "./tool.ts";

const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const WRITES = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false };

const what = ({ intake }: Words): string => (intake === undefined ? "" : ` of "${intake.name}"`);

const createTool: Tool = {
  suffix: "create",
  generic: "formbridge_create_submission",
  title: "Start a submission",
  annotations: WRITES,
  args: CreateSubmissionRequest,
  required: ["intakeId"],
  fieldsIn: "initialFields",
  output: CreateSubmissionResponse,
  describe: (words) =>
    `Start a submission${what(words)}${words.intake?.description === undefined ? "" : ` (${words.intake.description})`}. Give in initialFields what you know; the rest can come later, ` +
    `also days later: nothing times out. The answer has a resumeToken, which is the handle for all further calls and lives ${words.tokenLife}, and the ` +
    `fields that are still missing. Every write gives a new resumeToken: always use the latest.`,
  call: (call) => {
    const { initialFields, ttlMs, idempotencyKey, intakeId } = call.args as CreateSubmissionRequest;
    return call.operations.createSubmission({
      caller: call.caller,
      intakeId: call.intakeId ?? intakeId ?? "",
      request: {
        ...actorOf(call),
        ...(initialFields && { initialFields }),
        ...(ttlMs !== undefined && { ttlMs }),
      },
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    });
  },
  short: (body, guide) => ({ ...pick(body, [...MARK, "intakeId", "expiresAt"]), ...explain(body, guide) }),
};

const setTool: Tool = {
  suffix: "set",
  generic: "formbridge_set_fields",
  title: "Set fields",
  annotations: WRITES,
  args: SetFieldsRequest,
  required: ["fields"],
  fieldsIn: "fields",
  output: SetFieldsResponse,
  describe: (words) =>
    `Set, change or remove fields of a submission${what(words)}. Needs the latest resumeToken; the answer has a new one (lives ${words.tokenLife}) and says what is missing ` +
    `or not valid. Values that are not valid yet are kept too. Objects are merged, lists replaced, null removes a value, "address.city" as a key names a nested field. If somebody ` +
    `else wrote meanwhile, the error has a proposal: send that.`,
  call: (call) =>
    call.operations.setFields({ ...writeCall(call), fields: call.args.fields as Record<string, unknown> }),
  short: (body, guide) => ({ ...pick(body, MARK), ...shortPaths(body), ...explain(body, guide) }),
};

const validateTool: Tool = {
  suffix: "validate",
  generic: "formbridge_validate_submission",
  title: "Check what is missing",
  annotations: { ...WRITES, idempotentHint: true },
  args: ValidateRequest,
  required: [],
  output: ValidateResponse,
  describe: (words) =>
    `Check whether a submission${what(words)} is ready to be submitted, without submitting it. Changes no value and leaves the resumeToken as it is.`,
  call: (call) => call.operations.validate(writeCall(call)),
  short: (body, guide) => ({ ...pick(body, [...MARK, "ready"]), ...explain(body, guide) }),
};

const submitTool: Tool = {
  suffix: "submit",
  generic: "formbridge_submit",
  title: "Submit",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  args: SubmitRequest,
  required: ["idempotencyKey"],
  output: SubmitResponse,
  describe: (words) =>
    `Submit${what(words)} for review or delivery. Final: nothing can be changed afterwards, unless a reviewer rejects it. Fails and says why while something is missing. ` +
    `idempotencyKey is required: the same key for every retry of the same submit, so that a retry after a lost answer submits nothing twice.`,
  call: (call) => call.operations.submit(writeCall(call)),
  short: (body) => pick(body, [...MARK, "submittedAt", "finalizedAt"]),
};

const cancelTool: Tool = {
  suffix: "cancel",
  generic: "formbridge_cancel",
  title: "Cancel a submission",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  args: Type.Object({ submissionId: SetFieldsRequest.properties.submissionId, ...CancelRequest.properties }),
  required: [],
  output: CancelResponse,
  describe: (words) => `Cancel a submission${what(words)} for good. It can't be taken up again.`,
  call: (call) => {
    const { reason } = call.args as CancelRequest;
    return call.operations.cancel({ ...writeCall(call), ...(reason !== undefined && { reason }) });
  },
  short: (body) => pick(body, [...MARK, "cancelledAt", "reason"]),
};

const readMark = {
  submissionId: SetFieldsRequest.properties.submissionId,
  resumeToken: SetFieldsRequest.properties.resumeToken,
};

const statusTool: Tool = {
  suffix: "status",
  generic: "formbridge_get_submission",
  title: "Read a submission",
  annotations: READS,
  args: Type.Object({ ...readMark, ...StatusArguments.properties }),
  required: [],
  converses: ({ waitMs }) => waitMs !== undefined,
  output: GetSubmissionResponse,
  describe: (words) =>
    `Read a submission${what(words)}: its state, values and what is missing. With the resumeToken, or with the submissionId and a key that may see it. A token that was ` +
    `replaced a moment ago still reads, and the answer has the current one. With waitMs it waits for somebody else, such as a human, to change something.`,
  call: callStatus,
  short: (body, guide) => ({
    ...pick(body, [
      ...MARK,
      "intakeId",
      "expiresAt",
      "submittedAt",
      "finalizedAt",
      "cancelledAt",
      "expiredAt",
      "erasedAt",
    ]),
    ...shortFields(body.fields),
    ...explain(body, guide),
    ...pick(body, ["lastUpdatedBy", "updatedAt", "pendingUploads", "rejections", "reviewState", "deliveryState"]),
  }),
};

const SHORT_EVENTS = 20;

const eventsTool: Tool = {
  suffix: "events",
  generic: "formbridge_get_events",
  title: "Read the history",
  annotations: READS,
  args: Type.Object({ ...readMark, ...GetEventsQuery.properties }),
  required: [],
  output: GetEventsResponse,
  describe: (words) =>
    `Read the history of a submission${what(words)}: who did what, and when. ${SHORT_EVENTS} events a call unless limit says otherwise; nextEventId goes into afterEventId.`,
  call: (call) => {
    const { verbose, resumeToken: _token, submissionId: _id, ...query } = call.args;
    const limit = query.limit === undefined && verbose !== true ? { limit: SHORT_EVENTS } : {};
    return call.operations.getEvents({ caller: call.caller, target: targetOf(call), query: { ...query, ...limit } });
  },
  short: (body) => {
    if (!Array.isArray(body.events)) throw new ContractError("internal_error", "The history has no events.");
    return { ...pick(body, MARK), events: body.events.map(shortEvent), ...pick(body, ["hasMore", "nextEventId"]) };
  },
};

export const SUBMISSION_TOOLS: readonly Tool[] = [
  createTool,
  setTool,
  validateTool,
  submitTool,
  statusTool,
  eventsTool,
  cancelTool,
];
