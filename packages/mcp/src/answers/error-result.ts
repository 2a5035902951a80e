import type { ErrorBody, NextAction } from "@formbridge/contract";
import { type ContractError, errorBody } from "@formbridge/core";
import type { Guide } from "../schema/guide.ts";
import type { Suffix } from "../tools/tool.ts";
import { closestNames } from "./closest.ts";

interface ErrorWords {
  tool(suffix: Suffix): string;
  guide?: Guide;
}

interface ListedWords {
  /** A tool's name in the caller's list; undefined if it isn't listed. */
  tool(suffix: Suffix): string | undefined;
  guide?: Guide;
}

/** The same error envelope as over HTTP, with next actions that refer to the caller's tools. */
export function errorAnswer(error: ContractError, words: ListedWords): ErrorBody {
  const body = errorBody(error);
  const { nextActions } = body.error;
  const actions = nextActions ?? impliedActions(body);
  if (actions.length === 0) return body;
  return { ...body, error: { ...body.error, nextActions: actions.map((action) => inWords(action, words)) } };
}

/** Derives next actions from the findings if the error has none. */
function impliedActions({ error }: ErrorBody): NextAction[] {
  if (error.type !== "missing" && error.type !== "invalid" && error.type !== "upload_pending") return [];
  return (error.fields ?? [])
    .slice(0, 10)
    .map(({ path, code }) => ({ action: code === "file_required" ? "request_upload" : "collect_field", field: path }));
}

/** Keeps the contract's wording if the caller doesn't have the tool. */
function inWords(action: NextAction, { tool: listed, ...words }: ListedWords): NextAction {
  let isUnlisted = false;
  const tool = (suffix: Suffix): string => {
    const name = listed(suffix);
    isUnlisted ||= name === undefined;
    return name ?? "";
  };
  const hint = hintFor(action, { ...words, tool });
  return isUnlisted ? action : { ...action, hint };
}

function hintFor({ action, field, hint, uploadId }: NextAction, { tool, guide }: ErrorWords): string {
  switch (action) {
    case "collect_field":
      return collectHint(field, hint, { tool, ...(guide && { guide }) });
    case "request_upload":
      if (uploadId !== undefined) {
        return `The file for "${field ?? ""}" was announced as ${uploadId}. Send its bytes to the URL that you got, then call ${tool("confirm")}. If you don't have the URL, call ${tool("upload")} again.`;
      }
      return `Call ${tool("upload")} with field "${field ?? ""}", send the bytes to the URL in its response, then call ${tool("confirm")}. Or call ${tool("handoff")} and let a human add the file.`;
    case "wait_for_review":
      return `Nothing can be changed until a reviewer decides. Check later with ${tool("status")}.`;
    case "fetch_current_state":
      return `Send the proposal, when there is one. Otherwise call ${tool("status")}, merge, and call again with its resumeToken.`;
    case "create_new_submission":
      return `This submission has ended. Start a new one with ${tool("create")}.`;
    case "request_handoff":
      return `Call ${tool("handoff")} and give the url to the human who can continue.`;
    case "cancel":
      return hint ?? `Call ${tool("cancel")} if it is no longer wanted.`;
    case "reissue_token":
      return `Call ${tool("status")} with the submissionId and without the resumeToken. With the key that created the submission, its response has a new resumeToken.`;
    case "retry_delivery":
      return `Call ${tool("retry")} with the latest resumeToken: the delivery starts again. You don't have to send anything again.`;
  }
}

function collectHint(field: string | undefined, hint: string | undefined, { tool, guide }: ErrorWords): string {
  if (field === undefined) return hint ?? `Send what is missing with ${tool("set")}.`;
  if (field === "idempotencyKey") return "Send an idempotencyKey: the same key for every retry of the same call.";
  if (guide?.knows(field) === false) return unknownField(field, guide);
  const note = guide?.describe(field);
  if (note?.file === true) return hintFor({ action: "request_upload", field }, { tool });
  if (note?.fill === "human") return `Only a human may set ${field}: call ${tool("handoff")} and give them the url.`;
  const title = note?.title === undefined ? "" : ` (${note.title})`;
  return `Find out ${field}${title} and send it with ${tool("set")}.`;
}

function unknownField(field: string, guide: Guide): string {
  const near = closestNames(field, guide.names);
  return `There is no field ${field}. ${near.length > 0 ? `Did you mean ${near.join(", ")}?` : "Leave it out."}`;
}
