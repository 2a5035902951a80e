import type { IntakeDefinition } from "@formbridge/contract";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { listTools } from "../support/mcp-raw.ts";
import { created, everything, idempotencyKey, setFields } from "../support/moves.ts";
import { AGENT } from "../support/submissions.ts";

const schema: IntakeDefinition["schema"] = {
  type: "object",
  properties: {
    name: { type: "string" },
    secret: { type: "string", "x-sensitive": true },
    document: { type: "object", "x-file": { accept: ["application/pdf"], maxBytes: 1000 } },
  },
  required: ["name"],
};

/** A submission and the tokens that it has, or had. */
export interface Known {
  submissionId: string;
  token: string;
  staleToken: string;
}

export interface HostileWorld {
  server: TestServer;
  tools: Loose[];
  /** Of the first intake: the caller's own, and somebody else's. */
  own: Known;
  others: Known;
  /** Of the second intake. */
  foreign: Known;
  cancelled: Known;
  uploadId: string;
}

async function known(server: TestServer, intakeId: string, name: string): Promise<Known> {
  const made = await created(server, intakeId, { body: { initialFields: { name } } });
  const { body } = await setFields(server, made.resumeToken, { secret: `secret of ${name}` });
  return { submissionId: made.submissionId, token: body.resumeToken, staleToken: made.resumeToken };
}

export async function createHostileWorld(tools: "auto" | "intake" | "generic"): Promise<HostileWorld> {
  const server = await startTestServer({ env: { FORMBRIDGE_MCP_TOOLS: tools } });
  for (const id of ["alpha", "beta"]) await server.putIntake({ id, schema });
  const own = await known(server, "alpha", "own");
  const cancelled = await known(server, "alpha", "cancelled");
  await server.call("DELETE", `/resume/${cancelled.token}`, { body: { actor: AGENT } });
  const announced = await server.call("POST", `/resume/${own.token}/uploads`, {
    body: { actor: AGENT, field: "document", filename: "a.pdf", mimeType: "application/pdf", sizeBytes: 10 },
  });
  return {
    server,
    tools: (await listTools(server.url)).filter(({ name }) => tools !== "intake" || name.includes("_alpha_")),
    own: { ...own, token: announced.body.resumeToken },
    others: await known(server, "alpha", "others"),
    foreign: await known(server, "beta", "foreign"),
    cancelled,
    uploadId: announced.body.uploadId,
  };
}

/** A valid value for each argument of any tool. */
const goodValues = ({ own, uploadId }: HostileWorld): Record<string, unknown> => ({
  resumeToken: own.token,
  intakeId: "alpha",
  fields: { name: "changed by a hostile call" },
  idempotencyKey: idempotencyKey("hostile"),
  field: "document",
  filename: "b.pdf",
  mimeType: "application/pdf",
  sizeBytes: 10,
  uploadId,
  decision: "approved",
});

/** Does the tool need a token, or a key? */
export const needsToken = (tool: Loose): boolean => Object.hasOwn(tool.inputSchema.properties, "resumeToken");

/** What a tool requires: by its schema, and the token. A call with these is valid. */
export function goodArguments(world: HostileWorld, tool: Loose): Record<string, unknown> {
  const good = goodValues(world);
  const names: string[] = [...(tool.inputSchema.required ?? []), ...(needsToken(tool) ? ["resumeToken"] : [])];
  const unknown = names.filter((name) => good[name] === undefined);
  if (unknown.length > 0) throw new Error(`${tool.name}: what would be a good ${unknown.join(" and ")}?`);
  return Object.fromEntries(names.map((name) => [name, good[name]]));
}

/** Who tried which token is recorded, and so many stale ones trip an alarm; that is not an effect of the call. */
const NOTES = ["token.conflict", "token.accessed", "idempotency.lock.contention", "security.incident"];

/** Everything that the server stores, as far as a refused call must not change it. */
export async function stateOf({ server }: HostileWorld): Promise<unknown> {
  const lists = (await everything(server)) as Loose[][];
  return lists.map((items) =>
    items.filter(({ type }) => !NOTES.includes(type)).map(({ seq: _s, hash: _h, prevHash: _p, ...item }) => item),
  );
}
