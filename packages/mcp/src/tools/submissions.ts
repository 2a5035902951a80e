import {
  CancelRequest,
  CancelResponse,
  CreateSubmissionRequest,
  CreateSubmissionResponse,
  GetEventsQuery,
  GetEventsResponse,
  GetSubmissionResponse,
  RetryDeliveryRequest,
  RetryDeliveryResponse,
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
import { actorOf, MARK, pick, READS, type Tool, targetOf, type Words, WRITES, writeCall } from "./tool.ts";

/** "a submission", or for one intake "a submission of Trip". */
const aSubmission = ({ intake }: Words): string =>
  intake === undefined ? "a submission" : `a submission of ${intake.name}`;

const MAX_ABOUT = 300;
const about = ({ intake }: Words): string => {
  if (intake?.description === undefined) return "";
  const { description } = intake;
  return ` (${description.length > MAX_ABOUT ? `${description.slice(0, MAX_ABOUT)}…` : description})`;
};

export const createTool: Tool = {
  suffix: "create",
  generic: "formbridge_create_submission",
  title: "Start a submission",
  annotations: WRITES,
  args: CreateSubmissionRequest,
  required: ["intakeId"],
  fieldsIn: "initialFields",
  output: CreateSubmissionResponse,
  describe: (words) =>
    `Start ${aSubmission(words)}${about(words)}.${words.openFor === undefined ? "" : ` It stays open for ${words.openFor}.`} The response has the resumeToken for all further calls` +
    `${words.tokenLife === undefined ? "" : `, which lives ${words.tokenLife},`} and says what is still missing.`,
  call: (call) => {
    const args = call.args as CreateSubmissionRequest;
    return call.operations.createSubmission({
      caller: call.caller,
      intakeId: call.intakeId ?? args.intakeId ?? "",
      request: { ...actorOf(call), ...pick(args, ["initialFields", "ttlMs"]) },
      ...pick(args, ["idempotencyKey"]),
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
    `Set, change or remove fields of ${aSubmission(words)}. The response has a new resumeToken${words.tokenLife === undefined ? "" : ` (lives ${words.tokenLife})`} and says what is missing or invalid; invalid values are kept too. ` +
    `Objects are merged, lists replaced, null removes a value, a key may be a path ("address.city").`,
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
    `Check whether ${aSubmission(words)} is ready to be submitted. Changes no values; the resumeToken stays the same.`,
  call: (call) => call.operations.validate(writeCall(call)),
  short: (body, guide) => ({ ...pick(body, [...MARK, "ready", "pendingUploads"]), ...explain(body, guide) }),
};

const submitTool: Tool = {
  suffix: "submit",
  generic: "formbridge_submit",
  title: "Submit",
  annotations: { ...WRITES, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  args: SubmitRequest,
  required: ["idempotencyKey"],
  output: SubmitResponse,
  describe: (words) =>
    `Submit ${aSubmission(words)} for review or delivery. Nothing can be changed afterwards, unless a reviewer rejects it. If something is missing, it fails and says what.`,
  call: (call) => call.operations.submit(writeCall(call)),
  short: (body) => pick(body, [...MARK, "submittedAt", "finalizedAt"]),
};

const cancelTool: Tool = {
  suffix: "cancel",
  generic: "formbridge_cancel",
  title: "Cancel a submission",
  annotations: { ...WRITES, destructiveHint: true },
  args: Type.Object({ submissionId: SetFieldsRequest.properties.submissionId, ...CancelRequest.properties }),
  required: [],
  output: CancelResponse,
  describe: (words) => `Cancel ${aSubmission(words)} for good.`,
  call: (call) => call.operations.cancel({ ...writeCall(call), ...pick(call.args as CancelRequest, ["reason"]) }),
  short: (body) => pick(body, [...MARK, "cancelledAt", "reason"]),
};

const retryTool: Tool = {
  suffix: "retry",
  generic: "formbridge_retry_delivery",
  title: "Deliver again",
  annotations: { ...WRITES, openWorldHint: true },
  args: RetryDeliveryRequest,
  required: [],
  output: RetryDeliveryResponse,
  describe: (words) =>
    `Deliver ${aSubmission(words)} again after the last attempt failed (delivery_failed). You don't have to send anything again.`,
  call: (call) => call.operations.retryDelivery(writeCall(call)),
  short: (body) => pick(body, MARK),
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
    `Read ${aSubmission(words)}: its state, values, what is missing, and the current resumeToken (a new one, with your key, if it has expired). With waitMs it waits for somebody else, such as a human, to change something.`,
  call: callStatus,
  short: (body, guide) => ({
    ...pick(body, [
      ...MARK,
      "reissued",
      "message",
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
    ...pick(body, ["lastUpdatedBy", "updatedAt", "pendingUploads", "files", "rejections", "reviewState"]),
    ...pick(body, ["recentActivity", "completedHandoff"]),
  }),
};

const EVENTS_A_CALL = 20;

const eventsTool: Tool = {
  suffix: "events",
  generic: "formbridge_get_events",
  title: "Read the history",
  annotations: READS,
  args: Type.Object({
    ...readMark,
    ...GetEventsQuery.properties,
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, description: `At most this many; ${EVENTS_A_CALL} by default` }),
    ),
    proof: Type.Optional(Type.Boolean({ description: "With verbose: adds salts and digests, to verify the chain" })),
  }),
  required: [],
  output: GetEventsResponse,
  describe: (words) =>
    `Read the history of ${aSubmission(words)}: who did what, and when. Pass nextEventId as afterEventId for more.`,
  call: (call) => {
    const { verbose: _verbose, resumeToken: _token, submissionId: _id, proof, limit, ...query } = call.args;
    const asked = { ...query, limit: limit ?? EVENTS_A_CALL, ...(proof === true && { proof: "true" as const }) };
    return call.operations.getEvents({ caller: call.caller, target: targetOf(call), query: asked as GetEventsQuery });
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
  retryTool,
];
