import { isObject } from "@formbridge/core";
import type { StandardSchemaV1 } from "@modelcontextprotocol/server";

type Given = Record<string, unknown>;

/**
 * Checks parameters with our own messages: the SDK's check reports an internal error with its validator's raw findings.
 * `check` returns what is wrong, or nothing.
 */
const params = <Params>(check: (given: Given) => string | undefined): StandardSchemaV1<unknown, Params> => ({
  "~standard": {
    version: 1,
    vendor: "formbridge",
    validate(given) {
      const problem = check(isObject(given) ? given : {});
      return problem === undefined ? { value: given as Params } : { issues: [{ message: problem }] };
    },
  },
});

const text = (given: Given, name: string): string | undefined =>
  typeof given[name] === "string" ? undefined : `${name} must be a string`;

export const LIST_PARAMS = params<{ cursor?: string }>((given) =>
  given.cursor === undefined ? undefined : text(given, "cursor"),
);

export const READ_PARAMS = params<{ uri: string }>((given) => text(given, "uri"));

export const TASK_PARAMS = params<{ taskId: string }>((given) => text(given, "taskId"));

export const PROMPT_PARAMS = params<{ name: string; arguments?: Record<string, string> }>((given) => {
  const { arguments: args } = given;
  const isFit =
    args === undefined || (isObject(args) && Object.values(args).every((value) => typeof value === "string"));
  return text(given, "name") ?? (isFit ? undefined : "arguments must be an object of strings");
});
