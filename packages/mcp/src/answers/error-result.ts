import type { ErrorBody, NextAction } from "@formbridge/contract";
import { type ContractError, errorBody } from "@formbridge/core";
import type { Guide } from "../schema/guide.ts";
import type { Suffix } from "../tools/tool.ts";

export interface ErrorWords {
  tool(suffix: Suffix): string;
  guide?: Guide;
}

/** The contract's envelope, the same that HTTP answers with, its next actions in words that a model can act on. */
export function errorAnswer(error: ContractError, words: ErrorWords): ErrorBody {
  const body = errorBody(error);
  const { nextActions } = body.error;
  const actions = nextActions ?? impliedActions(body);
  if (actions.length === 0) return body;
  return { ...body, error: { ...body.error, nextActions: actions.map((action) => inWords(action, words)) } };
}

/** Where the contract names no next action, the problems themselves do. */
function impliedActions({ error }: ErrorBody): NextAction[] {
  if (error.type !== "missing" && error.type !== "invalid" && error.type !== "upload_pending") return [];
  return (error.fields ?? [])
    .slice(0, 10)
    .map(({ path, code }) => ({ action: code === "file_required" ? "request_upload" : "collect_field", field: path }));
}

function inWords(action: NextAction, words: ErrorWords): NextAction {
  return { ...action, hint: hintFor(action, words) };
}

function hintFor({ action, field, hint }: NextAction, { tool, guide }: ErrorWords): string {
  switch (action) {
    case "collect_field":
      return collectHint(field, hint, { tool, ...(guide && { guide }) });
    case "request_upload":
      return `Call ${tool("upload")} with field "${field ?? ""}", send the bytes to the URL it answers, then call ${tool("confirm")}. Or call ${tool("handoff")} and let a human add the file.`;
    case "wait_for_review":
      return `Nothing can be changed until a reviewer decides. Look later with ${tool("status")}.`;
    case "fetch_current_state":
      return `Send the proposal, when there is one. Otherwise call ${tool("status")}, merge, and call again with its resumeToken.`;
    case "create_new_submission":
      return `This one is over. Start again with ${tool("create")}.`;
    case "request_handoff":
      return `Call ${tool("handoff")} and give the url to the human who can go on.`;
    case "cancel":
      return hint ?? `Call ${tool("cancel")} if it is no longer wanted.`;
    case "retry_delivery":
      return "The operator of the server can start the delivery again; nothing is lost meanwhile.";
  }
}

function collectHint(field: string | undefined, hint: string | undefined, { tool, guide }: ErrorWords): string {
  if (field === undefined) return hint ?? `Send what is missing with ${tool("set")}.`;
  if (field === "idempotencyKey") return "Send an idempotencyKey: the same key for every retry of the same call.";
  const note = guide?.describe(field);
  if (note?.file === true) return hintFor({ action: "request_upload", field }, { tool });
  if (note?.fill === "human") return `Only a human may set ${field}: call ${tool("handoff")} and give them the url.`;
  const title = note?.title === undefined ? "" : ` (${note.title})`;
  return `Find out ${field}${title} and send it with ${tool("set")}.`;
}
