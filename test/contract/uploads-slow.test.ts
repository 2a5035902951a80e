import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { until } from "../support/moves.ts";
import { create } from "../support/submissions.ts";
import { announced, FILES_SCHEMA, filesAtRest, PDF } from "../support/uploads.ts";

const TUS = ["Tus-Resumable: 1.0.0", "Upload-Offset: 0", "Content-Type: application/offset+octet-stream"];

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    fakeClock: false,
    env: {
      FORMBRIDGE_REQUEST_TIMEOUT_MS: "300",
      FORMBRIDGE_UPLOAD_IDLE_MS: "400",
      FORMBRIDGE_UPLOAD_TTL_MS: "1000",
      FORMBRIDGE_UPLOAD_GRACE_MS: "200",
    },
  });
  await server.putIntake({ id: "files", schema: FILES_SCHEMA });
});
afterAll(() => server.stop());

async function waiting(): Promise<Loose> {
  const made = await create(server, "files");
  return await announced(server, made.resumeToken, { field: "pdf", bytes: PDF });
}

const pathOf = (url: string): string => url.slice(server.url.length);

/** Sends a head, and then nothing. */
function begin(line: string, headers: string[]): { socket: Socket; answer(): string; isClosed(): boolean } {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let answer = "";
  let closed = false;
  socket.on("data", (piece) => {
    answer += piece.toString();
  });
  socket
    .on("error", () => {})
    .on("close", () => {
      closed = true;
    });
  socket.write([`${line} HTTP/1.1`, "Host: x", ...headers, "", ""].join("\r\n"));
  return { socket, answer: () => answer, isClosed: () => closed };
}

const LITTLE = ["Content-Length: 1000"];
const JSON_BODY = ["Content-Type: application/json", ...LITTLE];

it.each([
  ["without a grant", "PUT /uploads/x", LITTLE, 403],
  ["without a grant, and is endless", "PUT /uploads/x", ["Content-Length: 100000000000"], 403],
  ["with a forged grant", "PUT /uploads/x?grant=a", LITTLE, 403],
  ["without a grant, piece by piece", "PATCH /uploads/x/resumable", [...TUS, ...LITTLE], 403],
  ["with a forged grant, piece by piece", "PATCH /uploads/x/resumable?grant=a", [...TUS, ...LITTLE], 403],
  ["to a path that takes no PATCH", "PATCH /uploads/x", JSON_BODY, 400],
  ["to a path that takes no PUT", "PUT /uploads/x/resumable", JSON_BODY, 400],
  ["to a path that wants no body", "GET /healthz", LITTLE, 200],
])("[UPLOADS-SLOW] a body that never arrives holds no connection: %s", async (_case, line, headers, status) => {
  const { answer, isClosed } = begin(line, headers);
  await until(isClosed);
  expect(answer().match(/HTTP\/1\.1 \d+/g)).toEqual([`HTTP/1.1 ${status}`]);
});

it("[UPLOADS-SLOW] the connection of a silent client is closed after its response", async () => {
  const signed = await waiting();
  const headers = Object.entries(signed.headers).map(([name, value]) => `${name}: ${value}`);
  const { answer, isClosed } = begin(`PUT ${pathOf(signed.url)}`, headers);
  await until(isClosed);
  expect(answer()).toContain("Nothing was received");
});

it.each(["PUT", "PATCH"])("[UPLOADS-SLOW] a %s that outlasts its file's time is refused", async (method) => {
  const signed = await waiting();
  const url = method === "PUT" ? signed.url : signed.resumable.url;
  const headers = method === "PUT" ? ["Content-Type: application/pdf"] : TUS;
  const { socket, answer } = begin(`${method} ${pathOf(url)}`, [...headers, `Content-Length: ${PDF.length}`]);
  let at = 0;
  const trickle = setInterval(() => {
    if (at < PDF.length - 1) socket.write(PDF.subarray(at, ++at));
  }, 50);
  await until(() => answer().includes("\r\n\r\n"));
  clearInterval(trickle);
  socket.destroy();
  expect(at).toBeGreaterThan(1);
  expect(answer()).toMatch(/^HTTP\/1\.1 410 [\s\S]*token_expired/);
  if (method === "PUT") {
    await until(() => !filesAtRest(server).some((name) => name.includes(signed.uploadId)));
  }
});
