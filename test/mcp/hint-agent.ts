import type { Loose } from "../support/harness.ts";
import type { Bag } from "../support/known-values.ts";
import type { Host } from "../support/mcp.ts";

export interface Trail {
  /** The tools that were called, in order. */
  called: string[];
  /** The types of the refusals that were met. */
  met: string[];
  last: Loose;
  submissionId: string;
}

export interface Journey {
  host: Host;
  /** What a model would know of its task: the name of the intake. */
  intake: string;
  bag: Bag;
  /** Opens the link, and does what only a human can. */
  human(handoff: Loose): Promise<void>;
  /** What happens before a call, by its number. */
  meanwhile?: Readonly<Record<number, (trail: Trail) => Promise<void> | void>>;
}

const MAX_CALLS = 25;
/** Where an agent's part ends. */
const ENDS = ["finalized", "needs_review"];
const ON_ITS_WAY = ["submitted", "approved"];

/**
 * An agent without a model. It picks the create tool of its intake and the tool that submits from the list, tries to submit, and does
 * what each refusal proposes. It adds values from the bag, and knows nothing else about the server.
 */
export async function followHints({ host, intake, bag, human, meanwhile = {} }: Journey): Promise<Trail> {
  const tools = await host.tools();
  const start = tools.find(({ title }) => title === `${intake}: Start a submission`);
  const submit = tools.find(({ title }) => title === "Submit");
  const look = tools.find(({ title }) => title === "Read a submission");
  if (start === undefined || submit === undefined || look === undefined) throw new Error(`no tool for ${intake}`);
  const trail: Trail = { called: [], met: [], last: {}, submissionId: "" };
  const idempotencyKey = `hints-${crypto.randomUUID()}`;
  let token = "";
  let next: { tool: string; arguments: Loose } = { tool: start.name, arguments: {} };
  while (trail.called.length < MAX_CALLS) {
    await meanwhile[trail.called.length]?.(trail);
    const { body } = await host.call(next.tool, next.arguments);
    trail.called.push(next.tool);
    trail.last = body;
    token = body.resumeToken ?? token;
    trail.submissionId = body.submissionId ?? trail.submissionId;
    if (body.ok !== true) {
      trail.met.push(body.error.type);
      const { proposal } = body.error;
      next = { tool: proposal.tool, arguments: added(proposal, bag) };
      continue;
    }
    if (ENDS.includes(body.state)) return trail;
    if (ON_ITS_WAY.includes(body.state) && trail.met.at(-1) === "delivery_failed" && next.tool !== look.name) {
      next = { tool: look.name, arguments: { resumeToken: token, waitMs: 5_000 } };
      continue;
    }
    if (body.method !== undefined) await send(body, bag, next.arguments.field);
    if (body.handoffId !== undefined) await human(body);
    next = { tool: submit.name, arguments: { resumeToken: token, idempotencyKey } };
  }
  throw new Error(`not done after ${MAX_CALLS} calls: ${trail.called.join(" ")} ${JSON.stringify(trail.last)}`);
}

/** The arguments of a proposal, with what it asks the caller to add. */
function added({ arguments: given, supply = [] }: Loose, bag: Bag): Loose {
  const args = structuredClone(given);
  for (const path of supply as string[]) {
    const [first = "", ...rest] = path.split(".");
    const name = rest.join(".");
    if (name !== "") args[first] = { ...args[first], [name]: bag.values[name] };
    else if (args.field !== undefined) args[first] = aboutFile(bag, args.field)[first];
    else throw new Error(`asked for ${path}, which nobody told me`);
  }
  return args;
}

function aboutFile({ files = {} }: Bag, field: string): Loose {
  const file = files[field];
  if (file === undefined) throw new Error(`no file for ${field}`);
  return { filename: file.filename, mimeType: file.mimeType, sizeBytes: file.bytes.length };
}

async function send({ url, method, headers }: Loose, { files = {} }: Bag, field: string): Promise<void> {
  const reply = await fetch(url, { method, headers, body: new Uint8Array(files[field]?.bytes ?? []) });
  if (!reply.ok) throw new Error(`the file was refused: ${reply.status}`);
}
