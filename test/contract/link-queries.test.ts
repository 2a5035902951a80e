import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMailbox, handOff, type Mailbox } from "../support/handoffs.ts";
import { startTestServer, type TestServer } from "../support/harness.ts";
import { drain, gated, JOBS_BY_HAND, submitted } from "../support/reviews.ts";
import { AGENT, create, expectError } from "../support/submissions.ts";

const JANE = "jane@example.com";
/** What mailers and campaign tools add, and some names that mean something elsewhere. */
const ADDED = [
  "utm_source=newsletter",
  "utm_source=a&utm_source=b",
  "source=agent_handoff",
  "fbclid=IwAR0",
  "limit=none",
  "version=x",
  "__proto__=1",
  "constructor=1",
  "=",
];

let server: TestServer;
let post: Mailbox;

beforeAll(async () => {
  post = createMailbox();
  server = await startTestServer({ mailer: post, env: JOBS_BY_HAND });
  await server.putIntake({ id: "open" });
});
afterAll(() => server.stop());

const pathOf = (url: string): string => url.slice(server.url.length);

async function links(): Promise<Record<string, string>> {
  const { submissionId, resumeToken } = await create(server, "open");
  const session = await handOff(server, resumeToken);
  const direct = await handOff(server, resumeToken, { kind: "direct" });
  const magic = await handOff(server, resumeToken, { kind: "magic_link", recipientEmail: JANE });
  const gate = await gated(server, [{ name: "legal", reviewers: { emails: [JANE] } }]);
  await submitted(server, gate);
  await drain(server);
  return {
    "/resume/{token}": `/resume/${resumeToken}`,
    "/resume/{id}/{token}": pathOf(direct.url),
    "/resume?token=": `/resume?token=${resumeToken}`,
    "/resume/{id}?session=": pathOf(session.url),
    "/resume/{id}?code=": `${pathOf(magic.url)}ABC`,
    "/resume/{token} with hints": `/resume/${resumeToken}?hint=name&intake=open`,
    "/reviews/{link}": `/reviews/${post.reviewLink(JANE)}`,
    "/resume/{id}": `/resume/${submissionId}?session=x`,
  };
}

describe("what is added to a link's query", () => {
  it("[AUDIT-F14] changes nothing in the response, on every kind of link", async () => {
    for (const [name, link] of Object.entries(await links())) {
      const plain = await server.call("GET", link);
      expect(plain.status, name).toBe(200);
      for (const added of ADDED) {
        const reply = await server.call("GET", `${link}${link.includes("?") ? "&" : "?"}${added}`);
        expect({ status: reply.status, body: reply.body }, `${name} with ${added}`).toEqual({
          status: 200,
          body: plain.body,
        });
      }
    }
  });

  it("means nothing behind a token, though it would behind an id", async () => {
    const { "/resume/{token}": link = "" } = await links();
    const plain = await server.call("GET", link);
    for (const added of ["session=x", "code=abc", "session=x&code=abc"]) {
      const reply = await server.call("GET", `${link}?${added}`);
      expect({ status: reply.status, body: reply.body }, added).toEqual({ status: 200, body: plain.body });
    }
  });

  it("does not keep a reviewer from deciding", async () => {
    const { "/reviews/{link}": link } = await links();
    const reply = await server.call("POST", `${link}?utm_source=mail`, { body: { decision: "approved" } });
    expect(reply.status).toBe(200);
  });

  it("hides no error", async () => {
    expectError(await server.call("GET", "/resume/rtok_short?utm_source=x"), 400, "token_invalid");
    expectError(await server.call("GET", `/resume/rtok_${"x".repeat(43)}?utm_source=x`), 404, "token_invalid");
    expectError(await server.call("GET", `/reviews/rvw_${"x".repeat(43)}?utm_source=x`), 404, "token_invalid");
  });

  it("stays a 400 on the JSON API", async () => {
    const { submissionId, resumeToken } = await create(server, "open");
    const key = server.adminKey;
    const calls = [
      server.call("GET", `/submissions/${submissionId}?utm_source=x`, { key }),
      server.call("GET", `/submissions/${resumeToken}?utm_source=x`),
      server.call("GET", `/submissions/${submissionId}/events?utm_source=x`, { key }),
      server.call("GET", "/submissions?utm_source=x", { key }),
      server.call("GET", "/reviews?utm_source=x", { key }),
      server.call("PATCH", `/submissions/${submissionId}/fields?utm_source=x`, { key, body: { fields: {} } }),
      server.call("POST", "/intakes/open/submissions?utm_source=x", { body: { actor: AGENT } }),
    ];
    for (const reply of await Promise.all(calls)) expectError(reply, 400, "bad_request");
  });
});
