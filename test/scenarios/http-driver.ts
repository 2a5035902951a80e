import type { CallOptions, TestServer } from "../support/harness.ts";
import type { Action, ActionArguments, Driver } from "./driver.ts";

interface HttpCall extends CallOptions {
  method: string;
  path: string;
}

type Caller = Pick<TestServer, "call">;

const body = ({ resumeToken: _token, submissionId: _id, ...rest }: ActionArguments): object => rest;
const at = ({ resumeToken = "", submissionId }: ActionArguments): string =>
  submissionId === undefined ? `/resume/${resumeToken}` : `/submissions/${submissionId}`;

const ROUTES: Record<Action, (intakeId: string, args: ActionArguments) => HttpCall> = {
  create: (intakeId, { fields, ...rest }) => ({
    method: "POST",
    path: `/intakes/${intakeId}/submissions`,
    body: { ...rest, ...(fields && { initialFields: fields }) },
  }),
  set: (_, args) => ({ method: "PATCH", path: `${at(args)}/fields`, body: body(args) }),
  validate: (_, args) => ({ method: "POST", path: `${at(args)}/validate`, body: body(args) }),
  upload: (_, args) => ({ method: "POST", path: `${at(args)}/uploads`, body: body(args) }),
  confirm: (_, { uploadId, ...args }) => ({
    method: "POST",
    path: `${at(args)}/uploads/${uploadId}/confirm`,
    body: body(args),
  }),
  submit: (_, args) => ({ method: "POST", path: `${at(args)}/submit`, body: body(args) }),
  status: (_, args) => ({ method: "GET", path: at(args) }),
  events: (_, { limit, afterEventId, ...args }) => ({
    method: "GET",
    path: `${at(args)}/events?${new URLSearchParams({
      ...(limit !== undefined && { limit: `${limit}` }),
      ...(afterEventId !== undefined && { afterEventId }),
    })}`,
  }),
  handoff: (_, args) => ({ method: "POST", path: `${at(args)}/handoffs`, body: body(args) }),
  cancel: (_, args) => ({ method: "DELETE", path: at(args), body: body(args) }),
};

/** By id the key gives access, and a token names the version. */
const condition = ({ submissionId, resumeToken }: ActionArguments): Record<string, string> =>
  submissionId !== undefined && resumeToken !== undefined ? { "if-match": `"${resumeToken}"` } : {};

export function createHttpDriver(server: Caller, key?: string): Driver {
  return {
    name: "HTTP",
    async call(intakeId, action, args) {
      const { method, path, ...options } = ROUTES[action](intakeId, args);
      const reply = await server.call(method, path, {
        ...options,
        headers: condition(args),
        ...(key !== undefined && { key }),
      });
      return {
        body: reply.body,
        isError: reply.status >= 400,
        replayed: reply.headers["idempotent-replayed"] === "true" || reply.body._idempotent === true,
      };
    },
    close: async () => {},
  };
}
