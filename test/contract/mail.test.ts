import { readConfig } from "@formbridge/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inLink } from "../support/handoffs.ts";
import { startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, created, until } from "../support/moves.ts";
import { gated, JOBS_BY_HAND, submitted } from "../support/reviews.ts";
import { partsOf, type SmtpHost, startSmtp } from "../support/smtp.ts";

let host: SmtpHost;
let server: TestServer;

beforeAll(async () => {
  host = await startSmtp();
  server = await startTestServer({
    env: {
      ...JOBS_BY_HAND,
      FORMBRIDGE_SMTP_URL: `smtp://127.0.0.1:${host.port}`,
      FORMBRIDGE_MAIL_FROM: "Forms <forms@example.com>",
    },
  });
});
afterAll(async () => {
  await server.stop();
  await host.close();
});

const mailTo = (address: string) =>
  until(() => {
    const mail = host.received.findLast(({ to }) => to.includes(address));
    return mail && partsOf(mail.raw);
  });

describe("over a real mail server", () => {
  it("[HANDOFF-CODE-MAILED] [NOTICES-SMTP] a magic link arrives, and its code opens a session", async () => {
    const intake = await gated(server, []);
    const made = await created(server, intake);
    const reply = await server.call("POST", `/resume/${made.resumeToken}/handoffs`, {
      body: { actor: AGENT, kind: "magic_link", recipientEmail: "jane@example.com", message: "<b>please</b>" },
    });
    expect(reply.status).toBe(201);
    const { text, html } = await mailTo("jane@example.com");
    const url = /https?:\/\/\S+/.exec(text)?.[0] ?? "";
    expect(html).toContain("&lt;b&gt;please&lt;/b&gt;");
    const opened = await server.call("POST", `/submissions/${made.submissionId}/sessions`, {
      body: { code: inLink(url, "code"), email: "jane@example.com" },
    });
    expect(opened.status).toBe(201);
  });

  it("[REVIEWS-LINK] [NOTICES-SMTP] a reviewer decides by the link in the mail", async () => {
    const intake = await gated(server, [{ name: "legal", reviewers: { emails: ["kim@example.com"] } }]);
    const { submissionId } = await submitted(server, intake);
    const { text } = await mailTo("kim@example.com");
    const url = new URL(/https?:\/\/\S+/.exec(text)?.[0] ?? "");
    expect((await server.call("GET", url.pathname)).body.submissionId).toBe(submissionId);
    const reply = await server.call("POST", url.pathname, { body: { decision: "approved" } });
    expect([reply.status, reply.body.state]).toEqual([200, "finalized"]);
  });
});

describe("settings", () => {
  it.each([
    ["no sender", { FORMBRIDGE_SMTP_URL: "smtp://mail.example.com" }, /FORMBRIDGE_MAIL_FROM is not set/],
    [
      "a sender that is none",
      { FORMBRIDGE_SMTP_URL: "smtp://mail.example.com", FORMBRIDGE_MAIL_FROM: "forms" },
      /FORMBRIDGE_MAIL_FROM is "forms"/,
    ],
    [
      "another protocol",
      { FORMBRIDGE_SMTP_URL: "http://user:secret@mail.example.com", FORMBRIDGE_MAIL_FROM: "a@example.com" },
      /FORMBRIDGE_SMTP_URL is not shown/,
    ],
  ])("[NOTICES-SMTP] %s stops the start with an explanation that contains no password", (_what, env, words) => {
    expect(() => readConfig(env)).toThrow(words);
    try {
      readConfig(env);
    } catch (error) {
      expect(String(error)).not.toContain("secret");
    }
  });
});
