import {
  type ActorInput,
  type CreateHandoffRequest,
  type CreateHandoffResponse,
  CreateHandoffRequest as HandoffRequest,
  CreateHandoffResponse as HandoffResponse,
  type SetFieldsResponse,
  type SubmissionRecord,
} from "@formbridge/contract";
import { ContractError, isEditable, type OperationResponse } from "@formbridge/core";
import Type, { type Static } from "typebox";
import { pick, type ToolCall, targetOf, writeCall } from "../tools/tool.ts";
import { answersOf, questionFor } from "./questions.ts";

/** For more questions a form is better, and the link opens one. */
const MAX_ASKED = 5;

const AskSchema = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
  minItems: 1,
  maxItems: MAX_ASKED,
  uniqueItems: true,
  description:
    "Names of plain fields that the host asks its user for, now and in a small form of its own, where it can: the answers are set before the link is made. " +
    "Not for sensitive or human-only fields, files or nested ones: these are what the link is for.",
});

export const HandoffArguments = Type.Object({
  ...HandoffRequest.properties,
  qrFormat: Type.Optional(Type.Enum(["png", "svg"], { description: "png: the link also as a picture, to be scanned" })),
  ask: Type.Optional(AskSchema),
});
export type HandoffArguments = Static<typeof HandoffArguments>;

const AskedSchema = Type.Object(
  {
    how: Type.Enum(["form", "url"]),
    action: Type.Enum(["accept", "decline", "cancel", "unanswered", "unavailable"], {
      description:
        "What the user did with the host's question. accept of a url is a consent to open it, not the end of the work. unavailable: this host can't ask.",
    }),
    updatedFields: Type.Optional(Type.Array(Type.String())),
    missingFields: Type.Optional(Type.Array(Type.String())),
  },
  { description: "The outcome of asking the user through the host. The response has the link in any case." },
);
type Asked = Static<typeof AskedSchema>;

const { qr: _picture, ...handoffResponse } = HandoffResponse.properties;
export const HandoffAnswer = Type.Object({ ...handoffResponse, asked: Type.Optional(AskedSchema) });

/** Creates the link, after or along with what the host can ask its user. */
export async function callHandoff(call: ToolCall): Promise<OperationResponse<object>> {
  const { ask, kind } = call.args as HandoffArguments;
  if (ask !== undefined) return await askAndMake(call, ask);
  // A magic link contains no secret, so it is the only one that another page may show.
  return kind === "magic_link" && call.host.can("url") ? await makeAndOffer(call) : await make(call);
}

/** Ask first, which writes nothing; then set the answers; then create the link with the resulting token. */
async function askAndMake(call: ToolCall, names: readonly string[]): Promise<OperationResponse<object>> {
  const { operations, caller, host, args } = call;
  const { body: read } = await operations.getSubmission({ caller, target: { ...targetOf(call), versions: [] } });
  // Don't ask for what could not be set: the refusal of the link says why.
  if (host.kept === undefined && !isWritable(read, args)) return await make(call);
  const question = questionFor(read.schema ?? {}, names);
  if (!host.can("form")) return withAsked(await make(call), { how: "form", action: "unavailable" });
  const message = (args.message as string | undefined) ?? `Please fill in ${names.length === 1 ? "this" : "these"}.`;
  // The idempotency key of the write is part of the question, so a reply that is sent twice is applied once.
  const once = (host.kept?.once as string | undefined) ?? crypto.randomUUID();
  const reply = await host.ask({ mode: "form", message, schema: question }, { once });
  const fields = reply.action === "accept" ? answersOf(reply, question) : {};
  if (Object.keys(fields).length === 0) return withAsked(await make(call), { how: "form", action: reply.action });
  const { submissionId, version, resumeToken, updatedFields, missingFields } = await setAnswers(call, {
    fields,
    idempotencyKey: `ask-${once}`,
  });
  const next = { submissionId, version, ...(resumeToken !== undefined && { resumeToken }) };
  const made = await make({ ...call, args: { ...args, ...next } });
  return withAsked(made, { how: "form", action: reply.action, updatedFields, missingFields });
}

const isWritable = ({ state, version, resumeToken }: SubmissionRecord, args: ToolCall["args"]): boolean =>
  isEditable(state) &&
  (args.resumeToken === undefined || args.resumeToken === resumeToken) &&
  (args.version === undefined || args.version === version);

/** Someone may write while the person answers. Keep the answers anyway, unless they are about the same fields. */
async function setAnswers(
  call: ToolCall,
  answers: { fields: Record<string, unknown>; idempotencyKey: string },
): Promise<SetFieldsResponse> {
  const { operations } = call;
  const set = async (by: ToolCall) =>
    (await operations.setFields({ ...writeCall(by), ...answerer(by), ...answers })).body as SetFieldsResponse;
  try {
    return await set(call);
  } catch (error) {
    if (!(error instanceof ContractError) || error.detail.conflictDetails?.canAutoMerge !== true) throw error;
    const { resumeToken, version } = error.about;
    if (resumeToken === undefined || version === undefined) throw error;
    return await set({ ...call, args: { ...call.args, resumeToken, version } });
  }
}

/** Mail the code before asking the host to open the page that takes it. A second round doesn't create a second link. */
async function makeAndOffer(call: ToolCall): Promise<OperationResponse<object>> {
  const { host } = call;
  const before = host.kept?.made as CreateHandoffResponse | undefined;
  const made = before === undefined ? await make(call) : { body: before };
  const { url } = made.body as CreateHandoffResponse;
  const message = "A code was sent by e-mail. Open this page and enter it to continue the form.";
  const { action } = await host.ask({ mode: "url", message, url }, { made: made.body });
  return withAsked(made, { how: "url", action });
}

const withAsked = (answer: OperationResponse<object>, asked: Asked): OperationResponse<object> => ({
  ...answer,
  body: { ...answer.body, asked },
});

/**
 * Who gave the answers. With an API key, its actor. Without one, the person named in the hand-off, or else the host's
 * user; recorded as declared, since only the client says so.
 */
function answerer({ args, caller }: ToolCall): { actor?: ActorInput } {
  if (caller.apiKey !== undefined) return {};
  const { allowedActors = [] } = args as HandoffArguments;
  const [only] = allowedActors;
  const isOne = allowedActors.length === 1 && (only?.kind ?? only?.type) === "human";
  return { actor: isOne && only !== undefined ? only : { kind: "human", id: "host_user" } };
}

function make(call: ToolCall): Promise<OperationResponse<CreateHandoffResponse>> {
  const args = call.args as CreateHandoffRequest;
  const handoff = {
    ...pick(args, ["kind", "expiresInMs", "allowedActors", "recipientEmail", "message"]),
    // Hosts show no SVG, and its source would be thousands of tokens.
    ...(args.qrFormat !== undefined && { qrFormat: "png" as const }),
  };
  return call.operations.createHandoff({ ...writeCall(call), handoff });
}
