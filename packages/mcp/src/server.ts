import type { ActorInput } from "@formbridge/contract";
import { type Caller, ContractError, errorBody, internalError, type Operations } from "@formbridge/core";
import {
  CLIENT_INFO_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { actorNamed } from "./actor-named.ts";
import { callTool, type InSpan, type OnCall } from "./call-tool.ts";
import type { Catalog } from "./catalog.ts";
import { FORM_URI, formResource, readForm } from "./form/form-resource.ts";
import { mayShowApps, UI_EXTENSION } from "./form/form-tool.ts";
import { formToolsFor } from "./form/listed-form.ts";
import { capabilitiesOf } from "./human/capabilities.ts";
import { AnsweredInstead, hostSide } from "./human/host-side.ts";
import type { RequestStates } from "./human/request-state.ts";
import { serveTasks, TASKS_EXTENSION, type Tasks } from "./human/tasks.ts";
import type { InFlight } from "./in-flight.ts";
import { LIST_PARAMS, PROMPT_PARAMS, READ_PARAMS } from "./params.ts";
import { promptsFor, promptText } from "./prompts.ts";
import { listedResources, RESOURCE_TEMPLATES, readResource } from "./resources.ts";

const INSTRUCTIONS =
  "FormBridge collects forms that agents and humans fill in together. Start a submission with what you know, look at what is missing, add it, hand over to a human what only they can do, and submit. " +
  "No conversation has to stay open: with the resumeToken of the latest response, you or somebody else can continue at any time. Every write returns a new one.";

const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { listChanged: true },
  prompts: {},
  extensions: { [UI_EXTENSION]: {}, [TASKS_EXTENSION]: {} },
};

export const serverInfoOf = (version: string) => ({ name: "formbridge", title: "FormBridge", version });

export interface ServerParts {
  operations: Operations;
  catalog: Catalog;
  states: RequestStates;
  tasks: Tasks;
  inFlight: InFlight;
  askTimeoutMs: number;
  /** The origins that files are uploaded to. */
  uploadOrigins(): readonly string[];
  /** Renders the form's document; absent if it wasn't built, and then hosts show no form. */
  formPage: ((uploadOrigins: readonly string[]) => string) | undefined;
  /** Aborted when the server stops, so that waiting calls return. */
  stopping: AbortSignal;
  onError(error: unknown): void;
  onCall?: OnCall | undefined;
  inSpan?: InSpan | undefined;
}

interface Call {
  name: string;
  args: unknown;
}

export interface ServerOptions {
  version: string;
  caller: Caller;
  /** May still be loading: the server can identify itself first, and requests that need these wait. */
  parts: ServerParts | Promise<ServerParts>;
  /** Replaces the SDK's class, for the official conformance suite, which needs more than the product has. */
  serverClass?: typeof Server;
}

/** Serves one caller. Stateless: all state is in the calls. */
export function createServer({ version, caller, parts: ready, serverClass = Server }: ServerOptions): Server {
  const server = new serverClass(serverInfoOf(version), { capabilities: CAPABILITIES, instructions: INSTRUCTIONS });
  const told = inProtocol(ready);
  server.setRequestHandler("tools/list", { params: LIST_PARAMS }, (_params, context) =>
    told(async ({ catalog }) => {
      const shown = await catalog.showTo(caller);
      return { tools: [...shown.tools(), ...formToolsFor(capabilitiesOf(server, context))] };
    }),
  );
  const call = async (parts: ServerParts, { name, args }: Call, context: ServerContext) => {
    const result = await callTool({
      ...parts,
      caller: tracedFrom(caller, context.mcpReq._meta?.traceparent),
      view: await parts.catalog.viewOf(caller),
      name,
      args,
      actor: actorOf(server, context),
      signal: context.mcpReq.signal,
      host: hostSide({ ...parts, server, context, caller, request: { name, args } }),
    });
    if (result === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 200)}`);
    return result;
  };
  server.setRequestHandler("tools/call", ({ params: { name, arguments: args } }, context) =>
    told((parts) => parts.inFlight.track(call(parts, { name, args }, context).catch(answeredInstead))),
  );
  serveTasks(server, {
    get: ({ taskId }, context) =>
      told((parts) =>
        parts.tasks.get(taskId, caller, ({ name, args: { waitMs: _waited, ...args } }) =>
          call(parts, { name, args }, context),
        ),
      ),
    check: ({ taskId }) => told(async ({ tasks }) => tasks.check(taskId, caller)),
  });
  server.setRequestHandler("resources/list", { params: LIST_PARAMS }, (_params, context) =>
    told(async ({ catalog, uploadOrigins, formPage }) => {
      const { intakes } = await catalog.showTo(caller);
      const listed = listedResources(intakes.filter(({ retired }) => !retired));
      const hasForm = formPage !== undefined && mayShowApps(capabilitiesOf(server, context));
      const forApps = hasForm ? [formResource(uploadOrigins())] : [];
      return { resources: [...listed, ...forApps] };
    }),
  );
  server.setRequestHandler("resources/templates/list", { params: LIST_PARAMS }, async () => ({
    resourceTemplates: [...RESOURCE_TEMPLATES],
  }));
  server.setRequestHandler("resources/read", { params: READ_PARAMS }, ({ uri }) =>
    told(async ({ operations, uploadOrigins, formPage }) => {
      if (uri === FORM_URI && formPage !== undefined) {
        return { contents: [{ uri, ...readForm(formPage, uploadOrigins()) }] };
      }
      const content = await readResource({ operations, caller, uri });
      if (content === undefined) throw new ResourceNotFoundError(uri);
      return { contents: [{ uri, ...content }] };
    }, uri),
  );
  server.setRequestHandler("prompts/list", { params: LIST_PARAMS }, () =>
    told(async ({ catalog }) => ({ prompts: promptsFor(await catalog.showTo(caller)) })),
  );
  server.setRequestHandler("prompts/get", { params: PROMPT_PARAMS }, ({ name, arguments: args = {} }) =>
    told(async ({ catalog }) => {
      const text = promptText({ name, args, view: await catalog.showTo(caller) });
      if (text === undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${name.slice(0, 200)}`);
      return { messages: [{ role: "user" as const, content: { type: "text" as const, text } }] };
    }),
  );
  return server;
}

/** The caller with the span of its message, which is closer to the call than that of the connection. */
export const tracedFrom = (caller: Caller, traceparent: unknown): Caller =>
  typeof traceparent === "string" ? { ...caller, traceparent } : caller;

function answeredInstead(thrown: unknown): AnsweredInstead["result"] {
  if (thrown instanceof AnsweredInstead) return thrown.result;
  throw thrown;
}

/** Turns every error into a protocol error, because the SDK would send the message of any other to the client. */
const inProtocol =
  (ready: ServerOptions["parts"]) =>
  async <Result>(work: (parts: ServerParts) => Promise<Result>, uri?: string): Promise<Result> => {
    const parts = await partsOrRefusal(ready);
    try {
      return await work(parts);
    } catch (error) {
      throw asProtocolError(error, { onError: parts.onError, ...(uri !== undefined && { uri }) });
    }
  };

/** The code that started the server reports why that failed; a caller only learns that it did. */
async function partsOrRefusal(ready: ServerOptions["parts"]): Promise<ServerParts> {
  try {
    return await ready;
  } catch {
    throw new ProtocolError(ProtocolErrorCode.InternalError, "The server couldn't start. Its log says why.");
  }
}

/**
 * The same error for what doesn't exist and what this caller may not see; others keep the contract's error as data. Our
 * own failures are logged.
 */
function asProtocolError(
  error: unknown,
  { onError, uri }: { onError: ServerParts["onError"]; uri?: string },
): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (!(error instanceof ContractError)) {
    onError(error);
    return new ProtocolError(ProtocolErrorCode.InternalError, internalError(error).message);
  }
  if (error.type === "service_unavailable" && error.cause !== undefined) onError(error.cause);
  const isGone = error.type === "not_found" || error.type === "token_invalid";
  if (isGone && uri !== undefined) return new ResourceNotFoundError(uri);
  return new ProtocolError(ProtocolErrorCode.InvalidParams, error.message, errorBody(error));
}

/** The actor of a call that names none and has no API key: the client program. */
function actorOf(server: Server, { mcpReq }: ServerContext): ActorInput {
  const envelope = mcpReq.envelope as Record<string, { name?: unknown } | undefined> | undefined;
  const told = envelope?.[CLIENT_INFO_META_KEY]?.name ?? server.getClientVersion()?.name;
  return actorNamed(told);
}
