import type { Loose } from "../support/harness.ts";
import type { McpConnection } from "../support/mcp-clients.ts";
import type { Action, ActionArguments, Driver } from "./driver.ts";

/** Which tools an agent was offered: some for each intake, or one set for all. */
export type Toolset = "intake" | "generic";

const GENERIC: Record<Action, string> = {
  create: "formbridge_create_submission",
  set: "formbridge_set_fields",
  validate: "formbridge_validate_submission",
  upload: "formbridge_request_upload",
  confirm: "formbridge_confirm_upload",
  submit: "formbridge_submit",
  status: "formbridge_get_submission",
  events: "formbridge_get_events",
  handoff: "formbridge_handoff",
  cancel: "formbridge_cancel",
};

export const toolName = (intakeId: string, action: Action, tools: Toolset): string =>
  tools === "generic" ? GENERIC[action] : `formbridge_${intakeId}_${action}`;

/** Verbose, so that a response has everything that it has over HTTP. */
function argumentsOf(action: Action, args: ActionArguments): Loose {
  const { fields, ...rest } = args;
  if (fields === undefined) return { ...rest, verbose: true };
  return { ...rest, [action === "create" ? "initialFields" : "fields"]: fields, verbose: true };
}

export function createMcpDriver(name: string, connection: McpConnection, tools: Toolset): Driver {
  return {
    name,
    async call(intakeId, action, args) {
      const tool = toolName(intakeId, action, tools);
      const whichIntake = action === "create" && tools === "generic" ? { intakeId } : {};
      const result = await connection.callTool(tool, { ...argumentsOf(action, args), ...whichIntake });
      return {
        body: result.structuredContent,
        isError: result.isError === true,
        replayed: result._meta?.idempotent_replayed === true,
      };
    },
    close: () => connection.close(),
  };
}
