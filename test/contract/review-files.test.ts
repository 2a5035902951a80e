import type { ApprovalGate } from "@formbridge/contract";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createMailbox, type Mailbox } from "../support/handoffs.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { connectMcp, done } from "../support/mcp-host.ts";
import { drain, JOBS_BY_HAND, review, reviewerKey } from "../support/reviews.ts";
import { AGENT, expectError, MINUTE, record, submit } from "../support/submissions.ts";
import { announced, confirm, digestOf, FILES_SCHEMA, PDF, send, walk } from "../support/uploads.ts";

const JANE = "jane@example.com";
const gate: ApprovalGate = { name: "legal", reviewers: { ids: ["rosa"], emails: [JANE] } };

let server: TestServer;
let post: Mailbox;
let rosa: string;
beforeAll(async () => {
  post = createMailbox();
  server = await startTestServer({ mailer: post, env: JOBS_BY_HAND });
  rosa = await reviewerKey(server, "rosa");
  await server.putIntake({ id: "files", schema: FILES_SCHEMA, approvalGates: [gate] });
});
afterAll(() => server.stop());

/** A submission with two attachments that waits for a reviewer, and the mailed link. */
async function waiting(): Promise<{ id: string; link: string; uploadId: string }> {
  const { submissionId: id, token, uploadId } = await walk(server, { field: "pdf", bytes: PDF, filename: "w9.pdf" });
  const again = await announced(server, token, { field: "many", bytes: PDF, filename: 'a"b.pdf' });
  await send(again, PDF);
  const both = await confirm(server, again.resumeToken, again.uploadId);
  expect((await submit(server, both.body.resumeToken)).body.state).toBe("needs_review");
  await drain(server);
  return { id, link: post.reviewLink(JANE), uploadId };
}

const show = async (link: string): Promise<Loose> => (await server.call("GET", `/reviews/${link}`)).body;

it("[AUDIT-F35] a review link shows links to the attachments that open without any credential", async () => {
  const { link, uploadId } = await waiting();
  const { files } = await show(link);
  expect(files).toMatchObject([
    { field: "pdf", uploadId, filename: "w9.pdf", mimeType: "application/pdf", sizeBytes: PDF.length },
    { field: "many", filename: "a_b.pdf" },
  ]);
  for (const { url, sha256 } of files) {
    const response = await fetch(url);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-disposition")).toMatch(/^attachment; filename="/);
    expect(digestOf(Buffer.from(await response.arrayBuffer()))).toBe(sha256);
  }
});

it("[AUDIT-F35] such a link expires, and looking again gives a new one", async () => {
  const { link } = await waiting();
  const [file] = (await show(link)).files;
  expect(Date.parse(file.expiresAt) - server.clock.now()).toBe(5 * MINUTE);
  server.clock.advance(6 * MINUTE);
  const path = (url: string) => url.slice(server.url.length);
  const late = expectError(await server.call("GET", path(file.url)), 410, "token_expired");
  expect(late.nextActions.length).toBe(1);
  const [again] = (await show(link)).files;
  expect((await server.call("GET", path(again.url))).status).toBe(200);
});

it("[AUDIT-F35] a reviewer's key sees them while its decision is pending, other keys do not", async () => {
  const { id } = await waiting();
  const read = () => server.call("GET", `/submissions/${id}`, { key: rosa });
  const seen = await read();
  expect(seen.body.files).toHaveLength(2);
  expect((await fetch(seen.body.files[0].url)).status).toBe(200);
  expect((await record(server, id)).files).toBeUndefined();
  const headers = { "if-none-match": seen.headers.etag ?? "" };
  expect((await server.call("GET", `/submissions/${id}`, { key: rosa, headers })).status).toBe(200);
  expect((await review(server, id, rosa)).status).toBe(200);
  expect((await read()).body.files).toBeUndefined();
});

it("[AUDIT-F35] over MCP, too", async () => {
  const { id } = await waiting();
  const host = await connectMcp(server, { key: rosa });
  const { files } = await done(host, "formbridge_get_submission", { submissionId: id });
  expect((await fetch(files[0].url)).status).toBe(200);
  await host.close();
});

it("[AUDIT-F35] [UPLOADS-SENSITIVE] a reviewer gets what is sensitive, too, and nothing that was replaced", async () => {
  const first = await walk(server, { field: "secret", bytes: PDF, mimeType: "application/octet-stream" });
  const second = await announced(server, first.token, { field: "pdf", bytes: PDF });
  await send(second, PDF);
  const with2 = await confirm(server, second.resumeToken, second.uploadId);
  const cleared = await server.call("PATCH", `/resume/${with2.body.resumeToken}`, {
    body: { actor: AGENT, fields: { pdf: null } },
  });
  await submit(server, cleared.body.resumeToken);
  await drain(server);
  const shown = await show(post.reviewLink(JANE));
  expect(shown.submissionId).toBe(first.submissionId);
  expect(shown.files.map(({ field }: { field: string }) => field)).toEqual(["secret"]);
});
