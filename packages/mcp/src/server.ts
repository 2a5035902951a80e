import type { ActorInput } from "@formbridge/contract";
import { type Caller, ContractError, errorBody, type Operations } from "@formbridge/core";
import {
  CLIENT_INFO_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { actorNamed } from "./actor-named.ts";
import { callTool } from "./call-tool.ts";
import type { Catalog } from "./catalog.ts";
import { FORM_URI, formResource, readForm } from "./form/form-resource.ts";
import { mayShowApps, UI_EXTENSION } from "./form/form-tool.ts";
import { formToolsFor } from "./form/listed-form.ts";
import { capabilitiesOf } from "./human/capabilities.ts";
import { AnsweredInstead, hostSide } from "./human/host-side.ts";
import type { RequestStates } from "./human/request-state.ts";
import { serveTasks, TASKS_EXTENSION, type Tasks } from "./human/tasks.ts";
import type { InFlight } from "./in-flight.ts";
import { PROMPTS, promptText } from "./prompts.ts";
import { listedResources, RESOURCE_TEMPLATES, readResource } from "./resources.ts";

const INSTRUCTIONS =
  "FormBridge takes in forms that agents and humans fill in together. Start a submission with what you know, look at what is missing, add it, hand over to a human what only they can do, and submit. " +
  "Nothing times out: the resumeToken of the latest answer is the handle with which you, or somebody else, go on at any time. Every write gives a new one.";

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
  /** Where files are sent to. */
  uploadOrigins(): readonly string[];
  /** Aborted when the server stops: whoever waits is answered. */
  stopping: AbortSignal;
  onError(error: unknown): void;
}

interface Call {
  name: string;
  args: unknown;
}

export interface ServerOptions {
  version: string;
  caller: Caller;
  /** A server says who it is before it has all that it needs to work; whatever needs these waits for them. */
  parts: ServerParts | Promise<ServerParts>;
  /** In place of the SDK's: one that has more than the product, as the official conformance suite wants it. */
  serverClass?: typeof Server;
}

/** Serves one caller. Holds nothing: all state is in what calls carry. */
export function createServer({ version, caller, parts: ready, serverClass = Server }: ServerOptions): Server {
  const server = new serverClass(serverInfoOf(version), { capabilities: CAPABILITIES, instructions: INSTRUCTIONS });
  const told = inProtocol(ready);
  server.setRequestHandler("tools/list", (_request, context) =>
    told(async ({ catalog }) => {
      const shown = await catalog.showTo(caller);
      return { tools: [...shown.tools(), ...formToolsFor(capabilitiesOf(server, context))] };
    }),
  );
  const call = async (parts: ServerParts, { name, args }: Call, context: ServerContext) => {
    const result = await callTool({
      operations: parts.operations,
      caller,
      view: await parts.catalog.viewOf(caller),
      name,
      args,
      actor: actorOf(server, context),
      signal: context.mcpReq.signal,
      host: hostSide({ ...parts, server, context, caller, request: { name, args } }),
      onError: parts.onError,
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
  server.setRequestHandler("resources/list", (_request, context) =>
    told(async ({ catalog, uploadOrigins }) => {
      const { intakes } = await catalog.showTo(caller);
      const listed = listedResources(intakes.filter(({ retired }) => !retired));
      const forApps = mayShowApps(capabilitiesOf(server, context)) ? [formResource(uploadOrigins())] : [];
      return { resources: [...listed, ...forApps] };
    }),
  );
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [...RESOURCE_TEMPLATES] }));
  server.setRequestHandler("resources/read", ({ params: { uri } }) =>
    told(async ({ operations, uploadOrigins }) => {
      if (uri === FORM_URI) return { contents: [{ uri, ...readForm(uploadOrigins()) }] };
      const content = await readResource({ operations, caller, uri });
      if (content === undefined) throw new ResourceNotFoundError(uri);
      return { contents: [{ uri, ...content }] };
    }, uri),
  );
  server.setRequestHandler("prompts/list", () => ({ prompts: [...PROMPTS] }));
  server.setRequestHandler("prompts/get", ({ params: { name, arguments: args = {} } }) =>
    told(async ({ catalog }) => {
      const text = promptText({ name, args, view: await catalog.showTo(caller) });
      if (text === undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${name.slice(0, 200)}`);
      return { messages: [{ role: "user" as const, content: { type: "text" as const, text } }] };
    }),
  );
  return server;
}

function answeredInstead(thrown: unknown): AnsweredInstead["result"] {
  if (thrown instanceof AnsweredInstead) return thrown.result;
  throw thrown;
}

/** Whatever goes wrong is told as the protocol's errors: the SDK would send the words of any other to the client. */
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

/** Why the start failed, whoever started it says; a caller learns that it did. */
async function partsOrRefusal(ready: ServerOptions["parts"]): Promise<ServerParts> {
  try {
    return await ready;
  } catch {
    throw new ProtocolError(ProtocolErrorCode.InternalError, "The server could not start; its log says why.");
  }
}

/** What is not there, or not for this caller, is one answer; the rest keeps the contract's words as data. What is ours is logged. */
function asProtocolError(
  error: unknown,
  { onError, uri }: { onError: ServerParts["onError"]; uri?: string },
): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (!(error instanceof ContractError)) {
    onError(error);
    return new ProtocolError(ProtocolErrorCode.InternalError, "Something went wrong on our side; it was logged.");
  }
  if (error.type === "service_unavailable" && error.cause !== undefined) onError(error.cause);
  const isGone = error.type === "not_found" || error.type === "token_invalid";
  if (isGone && uri !== undefined) return new ResourceNotFoundError(uri);
  return new ProtocolError(ProtocolErrorCode.InvalidParams, error.message, errorBody(error));
}

/** Who acts without saying so, and without a key: the program that calls. */
function actorOf(server: Server, { mcpReq }: ServerContext): ActorInput {
  const envelope = mcpReq.envelope as Record<string, { name?: unknown } | undefined> | undefined;
  const told = envelope?.[CLIENT_INFO_META_KEY]?.name ?? server.getClientVersion()?.name;
  return actorNamed(told);
}
