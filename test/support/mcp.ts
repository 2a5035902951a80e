import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect } from "vitest";
import type { Loose } from "./harness.ts";
import { envelopeOf, requestHeaders } from "./mcp-raw.ts";

/** A tool call's result as tests see it. */
export interface ToolReply {
  /** The envelope as data. */
  body: Loose;
  isError: boolean;
  meta: Loose;
}

/** A connected host: a real client of the protocol, with shortcuts for calls. */
export interface Host {
  client: Client;
  tools(): Promise<Loose[]>;
  /**
   * Calls a tool, and checks what holds for every result: the text equals the data, and the data matches the output
   * schema.
   */
  call(name: string, args?: Record<string, unknown>): Promise<ToolReply>;
  /** The same, expects success, and returns the envelope. */
  done(name: string, args?: Record<string, unknown>): Promise<Loose>;
  /** The same, expects this error, and returns it. */
  refused(name: string, args: Record<string, unknown>, type: string): Promise<Loose>;
  close(): Promise<void>;
}

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
const compiled = new Map<string, ValidateFunction>();

/** Cached: tools of many intakes share an output schema, and compiling it costs more than the call. */
function validatorOf(schema: object): ValidateFunction {
  const text = JSON.stringify(schema);
  const known = compiled.get(text) ?? ajv.compile(schema);
  compiled.set(text, known);
  return known;
}

/** Passed to clients, which would compile the schemas again for every connection. */
export const byUs = {
  getValidator: <T>(schema: object) => {
    const validate = validatorOf(schema);
    return (input: unknown) =>
      validate(input)
        ? { valid: true as const, data: input as T, errorMessage: undefined }
        : { valid: false as const, data: undefined, errorMessage: ajv.errorsText(validate.errors) };
  },
};

export const CLIENT_NAME = "test-host";

const bearer = (key: string | undefined) => ({
  requestInit: { headers: key === undefined ? {} : { authorization: `Bearer ${key}` } },
});

/** Connects over HTTP, with the newest revision by default. */
export async function connectHost(
  url: string,
  { key, era = "modern" }: { key?: string; era?: "modern" | "legacy" } = {},
): Promise<Host> {
  const transport = new StreamableHTTPClientTransport(new URL("/mcp", url), bearer(key));
  const mode = era === "modern" ? { pin: "2026-07-28" as const } : ("legacy" as const);
  const client = new Client(
    { name: CLIENT_NAME, version: "1" },
    { versionNegotiation: { mode }, jsonSchemaValidator: byUs },
  );
  await client.connect(transport);
  return hostOf(client);
}

/** The client of the earlier revisions. */
export async function connectOldHost(url: string, { key }: { key?: string } = {}): Promise<Host> {
  const client = new OldClient({ name: CLIENT_NAME, version: "1" }, { jsonSchemaValidator: byUs });
  // Its own types don't match under exactOptionalPropertyTypes.
  await client.connect(new OldTransport(new URL("/mcp", url), bearer(key)) as Loose);
  return hostOf(client as Loose);
}

export function hostOf(client: Client): Host {
  const schemas = new Map<string, Loose>();
  const tools = async () => (await client.listTools()).tools;
  const call: Host["call"] = async (name, args = {}) => {
    const result: Loose = await client.callTool({ name, arguments: args });
    const body = result.structuredContent;
    expect(JSON.parse(result.content[0].text)).toEqual(body);
    if (!schemas.has(name)) for (const tool of await tools()) schemas.set(tool.name, tool.outputSchema);
    const validate = validatorOf(schemas.get(name) ?? {});
    if (!validate(body))
      throw new Error(`${name} returned a result that violates its output schema: ${ajv.errorsText(validate.errors)}`);
    return { body, isError: result.isError === true, meta: result._meta ?? {} };
  };
  return {
    client,
    tools,
    call,
    async done(name, args) {
      const { body, isError } = await call(name, args);
      if (isError || body.ok !== true) throw new Error(`${name} was refused: ${JSON.stringify(body)}`);
      return body;
    },
    async refused(name, args, type) {
      const { body, isError } = await call(name, args);
      expect({ type: body.error?.type, isError, ok: body.ok }).toEqual({ type, isError: true, ok: false });
      return body;
    },
    close: () => client.close(),
  };
}

/** A request of the newest revision as sent over the wire. */
export function rpcRequest(method: string, params: Record<string, unknown> = {}, meta: Record<string, unknown> = {}) {
  return {
    headers: requestHeaders(method, { params }),
    body: { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: { ...envelopeOf(CLIENT_NAME), ...meta } } },
  };
}
