import type { Loose, Reply, TestServer } from "./harness.ts";
import type { Bag } from "./known-values.ts";
import { until } from "./moves.ts";
import { AGENT } from "./submissions.ts";

export interface HttpTrail {
  /** The next actions followed, in order, and each submit. */
  done: string[];
  met: string[];
  last: Loose;
  submissionId: string;
}

export interface HttpJourney {
  server: TestServer;
  key: string;
  intakeId: string;
  bag: Bag;
  human(handoff: Loose): Promise<void>;
  /** What happens before a step, by its number. */
  meanwhile?: Readonly<Record<number, (trail: HttpTrail) => Promise<void> | void>>;
}

const MAX_STEPS = 25;
const ENDS = ["finalized", "needs_review"];
const ON_ITS_WAY = ["submitted", "approved"];

/**
 * The counterpart of the agent in `test/mcp`: it has a request for each next action, submits, and does what refusals
 * suggest.
 */
export async function followActions({
  server,
  key,
  intakeId,
  bag,
  human,
  meanwhile = {},
}: HttpJourney): Promise<HttpTrail> {
  const trail: HttpTrail = { done: [], met: [], last: {}, submissionId: "" };
  const idempotencyKey = `hints-${crypto.randomUUID()}`;
  let token = "";
  const call = (method: string, path: string, body?: object): Promise<Reply> =>
    server.call(method, path, { key, ...(body && { body }) });
  const byToken = (method: string, path: string, body: object): Promise<Reply> =>
    call(method, `/resume/${token}${path}`, { actor: AGENT, ...body });
  const byId = (method: string, path: string, body?: object): Promise<Reply> =>
    call(method, `/submissions/${trail.submissionId}${path}`, body);

  const REQUESTS: Record<string, (action: Loose, all: Loose[]) => Promise<Reply>> = {
    submit: () => byToken("POST", "/submit", { idempotencyKey }),
    collect_field: (_action, all) => byToken("PATCH", "", { fields: valuesFor(all, bag) }),
    request_upload: ({ field, uploadId }) =>
      uploadId === undefined
        ? byToken("POST", "/uploads", { field, ...aboutFile(bag, field) })
        : byToken("POST", `/uploads/${uploadId}/confirm`, {}),
    request_handoff: () => byToken("POST", "/handoffs", {}),
    fetch_current_state: () => byId("GET", ""),
    // A restarted delivery takes its time.
    await_delivery: () =>
      until(async () => {
        const reply = await byId("GET", "");
        return ON_ITS_WAY.includes(reply.body.state) ? undefined : reply;
      }),
    reissue_token: () => byId("POST", "/tokens/reissue", {}),
    retry_delivery: () => byId("POST", "/deliveries/retry", {}),
  };

  const take = (reply: Reply): Loose => {
    trail.last = reply.body;
    token = reply.body.resumeToken ?? token;
    trail.submissionId = reply.body.submissionId ?? trail.submissionId;
    return reply.body;
  };
  take(await call("POST", `/intakes/${intakeId}/submissions`, { initialFields: {} }));
  let next: Loose[] = [{ action: "submit" }];
  while (trail.done.length < MAX_STEPS) {
    await meanwhile[trail.done.length]?.(trail);
    const [action] = next;
    const make = REQUESTS[action?.action];
    if (make === undefined) throw new Error(`no way to ${action?.action}: ${JSON.stringify(trail.last)}`);
    trail.done.push(action.action);
    const body = take(await make(action, next));
    if (body.ok !== true) {
      trail.met.push(body.error.type);
      next = body.error.nextActions ?? [];
      continue;
    }
    if (ENDS.includes(body.state)) return trail;
    if (body.method !== undefined) await send(body, bag, action.field);
    if (body.handoffId !== undefined) await human(body);
    const isWaiting = action.action === "retry_delivery";
    next = [{ action: isWaiting ? "await_delivery" : "submit" }];
  }
  throw new Error(`not done after ${MAX_STEPS} steps: ${trail.done.join(" ")} ${JSON.stringify(trail.last)}`);
}

const valuesFor = (actions: readonly Loose[], { values }: Bag): Loose =>
  Object.fromEntries(
    actions.filter(({ action }) => action === "collect_field").map(({ field }) => [field, values[field]]),
  );

function aboutFile({ files = {} }: Bag, field: string): Loose {
  const file = files[field];
  if (file === undefined) throw new Error(`no file for ${field}`);
  return { filename: file.filename, mimeType: file.mimeType, sizeBytes: file.bytes.length };
}

async function send({ url, method, headers }: Loose, { files = {} }: Bag, field: string): Promise<void> {
  const reply = await fetch(url, { method, headers, body: new Uint8Array(files[field]?.bytes ?? []) });
  if (!reply.ok) throw new Error(`the file was refused: ${reply.status}`);
}
