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
import { TASKS_EXTENSION, type Tasks } from "./human/tasks.ts";
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
  version: string;
  states: RequestStates;
  tasks: Tasks;
  inFlight: InFlight;
  askTimeoutMs: number;
  /** Where files are sent to. */
  uploadOrigins(): readonly string[];
  /** Aborted when the server stops: whoever waits is answered. */
  stopping: AbortSignal;
  onError(error: unknown): void;
  /** In place of the SDK's: one that has more than the product, as the official conformance suite wants it. */
  serverClass?: typeof Server;
}

/** Serves one caller. Holds nothing: all state is in what calls carry. */
export function createServer(parts: ServerParts, caller: Caller): Server {
  const { operations, catalog, version, serverClass = Server } = parts;
  const server = new serverClass(serverInfoOf(version), { capabilities: CAPABILITIES, instructions: INSTRUCTIONS });
  const shown = () => catalog.showTo(caller);
  const told = inProtocol(parts.onError);
  server.setRequestHandler("tools/list", (_request, context) =>
    told(async () => ({ tools: [...(await shown()).tools(), ...formToolsFor(capabilitiesOf(server, context))] })),
  );
  const call = async (name: string, args: unknown, context: ServerContext) => {
    const result = await callTool({
      operations,
      caller,
      view: await catalog.viewOf(caller),
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
    parts.inFlight.track(told(() => call(name, args, context).catch(answeredInstead))),
  );
  parts.tasks.serve(server, caller, ({ name, args: { waitMs: _waited, ...args } }, context) =>
    told(() => call(name, args, context)),
  );
  server.setRequestHandler("resources/list", (_request, context) =>
    told(async () => {
      const { intakes } = await shown();
      const listed = listedResources(intakes.filter(({ retired }) => !retired));
      const forApps = mayShowApps(capabilitiesOf(server, context)) ? [formResource(parts.uploadOrigins())] : [];
      return { resources: [...listed, ...forApps] };
    }),
  );
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [...RESOURCE_TEMPLATES] }));
  server.setRequestHandler("resources/read", ({ params: { uri } }) =>
    told(async () => {
      if (uri === FORM_URI) return { contents: [{ uri, ...readForm(parts.uploadOrigins()) }] };
      const content = await readResource({ operations, caller, uri });
      if (content === undefined) throw new ResourceNotFoundError(uri);
      return { contents: [{ uri, ...content }] };
    }, uri),
  );
  server.setRequestHandler("prompts/list", () => ({ prompts: [...PROMPTS] }));
  server.setRequestHandler("prompts/get", ({ params: { name, arguments: args = {} } }) =>
    told(async () => {
      const text = promptText({ name, args, view: await shown() });
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
  (onError: ServerParts["onError"]) =>
  async <Result>(work: () => Promise<Result>, uri?: string): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw asProtocolError(error, { onError, ...(uri !== undefined && { uri }) });
    }
  };

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
