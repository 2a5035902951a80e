import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import type { IntakeDefinition } from "@formbridge/contract";
import type { Loose, Reply, TestServer } from "./harness.ts";
import { AGENT, create } from "./submissions.ts";

const rule = (accept: string[], maxBytes = 10_000_000) => ({ "x-file": { accept, maxBytes } });

/** Fields for files of several kinds. */
export const FILES_SCHEMA: IntakeDefinition["schema"] = {
  type: "object",
  properties: {
    name: { type: "string" },
    pdf: rule(["application/pdf"]),
    image: rule(["image/*"]),
    text: rule(["text/plain", "text/csv", "application/json"]),
    any: rule(["*/*"], 2_000_000_000),
    huge: rule(["*/*"], 1e12),
    svg: rule(["image/svg+xml"]),
    html: rule(["text/html"]),
    odd: rule(["application/x-odd"]),
    office: rule(["application/msword", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"]),
    many: { "x-file": { accept: ["*/*"], maxBytes: 1000, maxFiles: 3 } },
    secret: { ...rule(["*/*"]), "x-sensitive": true },
  },
};

export const PDF = Buffer.from("%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< >>\n%%EOF\n");
export const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);

export interface FileToSend {
  field: string;
  bytes: Buffer;
  mimeType?: string;
  filename?: string;
  sha256?: string;
  sizeBytes?: number;
}

export const digestOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** Announces a file; returns the raw reply. */
export const announce = (server: TestServer, token: string, file: FileToSend): Promise<Reply> =>
  server.call("POST", `/resume/${token}/uploads`, {
    body: {
      field: file.field,
      filename: file.filename ?? "a.pdf",
      mimeType: file.mimeType ?? "application/pdf",
      sizeBytes: file.sizeBytes ?? file.bytes.length,
      ...(file.sha256 !== undefined && { sha256: file.sha256 }),
      actor: AGENT,
    },
  });

/** Announces a file, expects success, and returns the body. */
export async function announced(server: TestServer, token: string, file: FileToSend): Promise<Loose> {
  const reply = await announce(server, token, file);
  if (reply.status !== 200) throw new Error(`not announced: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body;
}

export interface Sent {
  status: number;
  headers: Record<string, string>;
  body: Loose;
}

/** Sends bytes to a signed URL with the headers that came with it; fetch would set its own length. */
export function send(signed: Loose, bytes: Buffer, headers: Record<string, string | undefined> = {}): Promise<Sent> {
  const all = Object.entries({ ...(signed.headers as Record<string, string>), ...headers }).filter(
    ([, value]) => value !== undefined,
  );
  return new Promise((resolve, reject) => {
    const request = httpRequest(signed.url as string, {
      method: "PUT",
      headers: Object.fromEntries(all) as Record<string, string>,
      agent: false,
    });
    request.on("error", reject);
    request.on("response", (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () => {
        const text = Buffer.concat(parts).toString("utf8");
        const body = text.startsWith("{") ? JSON.parse(text) : text;
        resolve({ status: response.statusCode ?? 0, headers: response.headers as Record<string, string>, body });
      });
    });
    request.end(bytes);
  });
}

export const confirm = (server: TestServer, token: string, uploadId: string): Promise<Reply> =>
  server.call("POST", `/resume/${token}/uploads/${uploadId}/confirm`, { body: { actor: AGENT } });

export interface Walked {
  submissionId: string;
  uploadId: string;
  /** The current token, after the confirm. */
  token: string;
  signed: Loose;
  reply: Reply;
}

/** A new submission with one file announced, sent and confirmed, as far as each step succeeds. */
export async function walk(server: TestServer, file: FileToSend, intakeId = "files"): Promise<Walked> {
  const made = await create(server, intakeId);
  const signed = await announced(server, made.resumeToken, file);
  const sent = await send(signed, file.bytes);
  if (sent.status !== 200) throw new Error(`not sent: ${sent.status} ${JSON.stringify(sent.body)}`);
  const reply = await confirm(server, signed.resumeToken, signed.uploadId);
  const token = (reply.body.resumeToken as string | undefined) ?? signed.resumeToken;
  return { submissionId: made.submissionId, uploadId: signed.uploadId, token, signed, reply };
}

/** How many bytes of an upload are stored, whatever became of it. */
export function sizeAtRest(server: TestServer, uploadId: string): number {
  const folder = join(server.folder, "uploads");
  if (!existsSync(folder)) return 0;
  const found = readdirSync(folder, { recursive: true, encoding: "utf8" }).find((name) => name.includes(uploadId));
  return found === undefined ? 0 : (statSync(join(folder, found), { throwIfNoEntry: false })?.size ?? 0);
}

/** Everything in the folder of files. */
export function filesAtRest(server: TestServer): string[] {
  const folder = join(server.folder, "uploads");
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

/** Announces a file, confirms it too early and then in time, and downloads it; returns the resulting token. */
export async function callUploads(call: TestServer["call"], token: string): Promise<string> {
  const body = { actor: AGENT, field: "doc", filename: "a.txt", mimeType: "text/plain", sizeBytes: 3 };
  const signed = (await call("POST", `/resume/${token}/uploads`, { body })).body;
  const confirming = `/resume/${signed.resumeToken}/uploads/${signed.uploadId}/confirm`;
  await call("POST", confirming, { body: { actor: AGENT } });
  await send(signed, Buffer.from("abc"));
  const { resumeToken } = (await call("POST", confirming, { body: { actor: AGENT } })).body;
  await call("GET", `/resume/${resumeToken}/uploads/${signed.uploadId}`);
  await call("GET", `/resume/${resumeToken}/uploads/upl_1`);
  return resumeToken;
}
