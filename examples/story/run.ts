/**
 * One submission from its first field to its destination, with everybody who has a part in it. `npm run story` runs it on a file of
 * its own; with FORMBRIDGE_DATABASE_URL and FORMBRIDGE_SECRET set, on PostgreSQL. The destination is a queue of RabbitMQ, or a
 * webhook where RabbitMQ is not installed or with `--webhook`. With `--keep` everything stays up to look at.
 *
 *   agent ──▶ human ──▶ agent ──▶ two reviewers, by mail ──▶ RabbitMQ or a webhook ──▶ the history is verified
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFormBridge } from "@formbridge/server";
import { firstProblem } from "../verify-history.ts";
import { supplier } from "./intake.ts";
import { type Running, startListener, startMailServer, startReceiver, until } from "./servers.ts";

const EVENT_SECRET = "whsec_dGhlIHNlY3JldCBvZiB0aGUgbGlzdGVuZXIgaGVyZQ==";
const PDF = Buffer.from("%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n");

const tell = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

// biome-ignore lint/suspicious/noExplicitAny: the story looks into answers as a script would
type Answer = any;

async function call(method: string, url: string, { key, body, headers }: Call = {}): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer: Answer = await response.json();
  if (!response.ok) throw new Error(`${method} ${new URL(url).pathname}: ${answer.error?.message}`);
  return answer;
}
interface Call {
  key?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** The human opens the link, fills in what only a human may, sends a file and says that their part is done. */
async function humanFillsIn(url: string, link: string): Promise<void> {
  const { pathname, searchParams } = new URL(link);
  const path = `${url}/submissions/${pathname.split("/").at(-1)}`;
  const opened = await call("POST", `${path}/sessions`, {
    body: { session: searchParams.get("session"), carrier: "header", actor: { kind: "human", id: "hanna" } },
  });
  const key = opened.session;
  const { version } = await call("GET", path, { key });
  const set = await call("PATCH", `${path}/fields`, {
    key,
    body: { version, fields: { iban: "DE02120300000000202051" } },
  });
  const file = {
    field: "certificate",
    filename: "certificate.pdf",
    mimeType: "application/pdf",
    sizeBytes: PDF.length,
  };
  const announced = await call("POST", `${path}/uploads`, { key, body: { version: set.version, ...file } });
  const sent = await fetch(announced.url, { method: announced.method, headers: announced.headers, body: PDF });
  if (!sent.ok) throw new Error(`the file was not accepted: ${sent.status}`);
  await call("POST", `${path}/uploads/${announced.uploadId}/confirm`, { key, body: { version: announced.version } });
  await call("POST", `${path}/sessions/complete`, { key, body: {} });
}

/** A reviewer follows the link of the mail, looks, and approves. */
async function approve(url: string, mail: string): Promise<Answer> {
  const link = /\/reviews\/rvw_[\w-]{43}/.exec(mail)?.[0];
  if (link === undefined) throw new Error("the mail has no link");
  await call("GET", url + link);
  return await call("POST", url + link, { body: { decision: "approved" }, headers: { prefer: "wait=20" } });
}

/** What somebody needs to look at the result. */
interface Stage {
  url: string;
  key: string;
  submissionId: string;
}

async function play(running: Running[]): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "formbridge-story-"));
  running.push({ url: "", stop: async () => rmSync(folder, { recursive: true, force: true }) });
  const mail = await startMailServer();
  running.push(mail);
  const receiver = await startReceiver({ wantsWebhook: process.argv.includes("--webhook") });
  running.push(receiver);
  const listener = await startListener(EVENT_SECRET);
  running.push(listener);
  const formbridge = await createFormBridge({
    settings: {
      FORMBRIDGE_DATA: folder,
      FORMBRIDGE_ADMIN_KEY: "admin-of-the-story",
      FORMBRIDGE_LOG_LEVEL: "error",
      ...process.env,
      FORMBRIDGE_PORT: "0",
      FORMBRIDGE_SMTP_URL: mail.url,
      FORMBRIDGE_MAIL_FROM: "forms@example.com",
      // The receivers of the story are on this machine.
      FORMBRIDGE_ALLOW_PRIVATE_TARGETS: "1",
    },
    intakes: [supplier(receiver.destination)],
  });
  running.push(formbridge);
  const { url } = formbridge;
  const admin = process.env.FORMBRIDGE_ADMIN_KEY ?? "admin-of-the-story";
  await call("POST", `${url}/webhooks`, { key: admin, body: { url: listener.url, secret: EVENT_SECRET } });
  const bot = { name: "Bot", roles: ["agent"], actor: { kind: "agent", id: "procurement_bot" } };
  const { key: agent } = await call("POST", `${url}/keys`, { key: admin, body: bot });

  const created = await call("POST", `${url}/intakes/supplier/submissions`, {
    key: agent,
    body: { initialFields: { company: "Acme GmbH", country: "DE" }, idempotencyKey: "acme-1" },
  });
  const path = `${url}/submissions/${created.submissionId}`;
  tell(`agent      created ${created.submissionId}; missing: ${created.missingFields.join(", ")}`);
  const handoff = await call("POST", `${path}/handoffs`, { key: agent, body: { resumeToken: created.resumeToken } });
  tell("agent      made a link for a human");
  await humanFillsIn(url, handoff.url);
  tell("human      filled in the rest and sent a file");
  const { resumeToken, missingFields } = await call("GET", path, { key: agent });
  if (missingFields.length > 0) throw new Error(`still missing: ${missingFields}`);
  const submitted = await call("POST", `${path}/submit`, {
    key: agent,
    body: { resumeToken },
    headers: { "idempotency-key": "submit-acme-1" },
  });
  tell(`agent      submitted; it is ${submitted.state}`);
  const first = await approve(url, await mail.nextTo("petra@example.com"));
  tell(`petra      approved by the link of her mail; it is ${first.state}`);
  const second = await approve(url, await mail.nextTo("paul@example.com"));
  tell(`paul       approved by the link of his mail; it is ${second.state}`);
  const arrived = await receiver.take();
  const { deliveryState } = await call("GET", path, { key: admin });
  if (arrived === undefined || arrived.id !== deliveryState.deliveryId) throw new Error("it did not arrive");
  tell(`${receiver.name.padEnd(10)} got ${arrived.id}: ${(arrived.body as Answer).data.fields.company}`);
  const { events } = await call("GET", `${path}/events?stream=all&proof=true&limit=1000`, { key: admin });
  const problem = firstProblem(events);
  if (problem !== undefined) throw new Error(problem);
  tell(`history    ${events.length} events verified`);
  await until(() => listener.heard.at(-1) === "submission.finalized");
  tell(`webhook    heard of ${listener.heard.length} events, from ${listener.heard[0]} to ${listener.heard.at(-1)}`);
  return { url, key: admin, submissionId: created.submissionId };
}

/** Keeps running until it is stopped. */
async function keepUp({ url, key, submissionId }: Stage): Promise<void> {
  const timer = setInterval(() => {}, 60_000);
  const over = new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, resolve);
  });
  tell(
    `keeps      ${url} up, until Ctrl-C; look around with: curl -s ${url}/submissions/${submissionId} -H 'Authorization: Bearer ${key}'`,
  );
  await over;
  clearInterval(timer);
}

const running: Running[] = [];
try {
  const stage = await play(running);
  if (process.argv.includes("--keep")) await keepUp(stage);
} finally {
  for (const one of running.reverse()) await one.stop();
}
