/**
 * `node bench/upload.ts`: how much memory one large file costs the server, uploaded whole and by tus. `--long` sends 1
 * GB instead of 200 MB. Fails if memory grows by 50 MB or more.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type RequestOptions, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { print } from "./report.ts";
import { type Server, startOurs } from "./server-process.ts";

const MB = 1_000_000;
const MAX_GROWTH_MB = 50;
let sizeBytes = process.argv.includes("--long") ? 1000 * MB : 200 * MB;
const PIECE = Buffer.alloc(64 * 1024, "formbridge\n");

const INTAKE = {
  id: "large",
  version: "1",
  name: "Large files",
  access: "public",
  schema: { type: "object", properties: { file: { "x-file": { accept: ["text/plain"], maxBytes: 2000 * MB } } } },
  destination: { kind: "store" },
};
const actor = { kind: "agent", id: "bench" };

interface Announced {
  uploadId: string;
  resumeToken: string;
  url: string;
  headers: Record<string, string>;
  resumable: { url: string };
}

async function call<Body>(server: Server, path: string, body: object): Promise<Body> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path.split("/").at(-1)}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Body;
}

/** Sends chunks as fast as they are accepted, and waits for the response. */
async function pour(url: string, options: RequestOptions): Promise<void> {
  const outgoing = request(url, options);
  const answered = new Promise<number>((resolve, reject) => {
    outgoing.once("response", (response) => resolve(response.resume().statusCode ?? 0)).once("error", reject);
  });
  for (let sent = 0; sent < sizeBytes; sent += PIECE.length) {
    const piece = PIECE.subarray(0, Math.min(PIECE.length, sizeBytes - sent));
    if (!outgoing.write(piece)) await new Promise((resolve) => outgoing.once("drain", resolve));
  }
  outgoing.end();
  const status = await answered;
  if (status >= 300) throw new Error(`the file was answered with ${status}`);
}

const WAYS: Record<string, (file: Announced) => Promise<void>> = {
  "sent whole": ({ url, headers }) => pour(url, { method: "PUT", headers }),
  "sent by tus": ({ resumable }) =>
    pour(resumable.url, {
      method: "PATCH",
      headers: {
        "Tus-Resumable": "1.0.0",
        "Upload-Offset": "0",
        "Content-Type": "application/offset+octet-stream",
        "Content-Length": String(sizeBytes),
      },
    }),
};

async function measure(server: Server, name: string, send: (file: Announced) => Promise<void>): Promise<boolean> {
  const made = await call<{ resumeToken: string }>(server, "/intakes/large/submissions", { actor });
  const announcement = { actor, field: "file", filename: "large.txt", mimeType: "text/plain", sizeBytes };
  const file = await call<Announced>(server, `/resume/${made.resumeToken}/uploads`, announcement);
  const before = server.rss();
  let most = before;
  const sampler = setInterval(() => {
    most = Math.max(most, server.rss());
  }, 50);
  const began = performance.now();
  await send(file);
  const sent = performance.now();
  await call(server, `/resume/${file.resumeToken}/uploads/${file.uploadId}/confirm`, { actor });
  clearInterval(sampler);
  const growth = most - before;
  const speed = (from: number, to: number): string => `${Math.round(sizeBytes / MB / ((to - from) / 1000))} MB/s`;
  print(
    `${sizeBytes / MB} MB ${name}: ${speed(began, sent)}, confirmed at ${speed(sent, performance.now())}; ` +
      `memory grew by ${growth.toFixed(1)} MB, ${((growth * MB) / sizeBytes).toFixed(3)} of the file (at most ${MAX_GROWTH_MB} MB)`,
  );
  return growth < MAX_GROWTH_MB;
}

const folder = mkdtempSync(join(tmpdir(), "formbridge-bench-"));
const intakes = join(folder, "intakes");
mkdirSync(intakes);
writeFileSync(join(intakes, "large.json"), JSON.stringify(INTAKE));
const server = await startOurs(folder, { intakes });
let isFine = true;
try {
  const whole = sizeBytes;
  // The first file also pays for cold code and for heap that any work needs.
  sizeBytes = 20 * MB;
  for (const [name, send] of Object.entries(WAYS)) await measure(server, name, send);
  sizeBytes = whole;
  for (const [name, send] of Object.entries(WAYS)) isFine = (await measure(server, name, send)) && isFine;
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = isFine ? 0 : 1;
