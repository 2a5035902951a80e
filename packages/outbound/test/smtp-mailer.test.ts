import { createServer, type Server } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { MailRefused } from "@formbridge/core";
import type { SMTPServerOptions } from "smtp-server";
import { afterEach, describe, expect, it } from "vitest";
import { partsOf, type SmtpHost, selfSigned, startSmtp } from "../../../test/support/smtp.ts";
import { createSmtpMailer } from "../src/index.ts";

const FROM = "Forms <forms@example.com>";
const MAIL = { to: "jane@example.com", subject: "Grüße", text: "Hällo\n", html: "<p>Hällo &amp; so</p>" };
const TRUSTED = getCACertificates("default");

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  setDefaultCACertificates(TRUSTED);
  await Promise.all(open.splice(0).map((close) => close()));
});

async function smtp(...options: Parameters<typeof startSmtp>): Promise<SmtpHost> {
  const host = await startSmtp(...options);
  open.push(host.close);
  return host;
}
const mailer = (url: string, timeoutMs = 10_000) => createSmtpMailer({ url, from: FROM, timeoutMs });

/** A server that says this, whatever it receives. */
async function rude(says: string): Promise<number> {
  const server: Server = createServer((socket) => {
    socket.on("error", () => {});
    socket.write(says);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve());
  });
  open.push(async () => {
    server.close();
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

const login: SMTPServerOptions = {
  authOptional: false,
  onAuth: ({ username, password }, _session, done) =>
    username === "forms" && password === "p@ss/word" ? done(null, { user: "forms" }) : done(new Error("wrong login")),
};

describe("mail by SMTP", () => {
  it("[NOTICES-SMTP] arrives as text and HTML, from the sender, to one address", async () => {
    const { port, received } = await smtp();
    await mailer(`smtp://127.0.0.1:${port}`).send(MAIL);
    expect(received).toMatchObject([{ from: "forms@example.com", to: ["jane@example.com"], secure: false }]);
    const { headers, text, html } = partsOf(received[0]?.raw ?? "");
    expect(headers).toContain("From: Forms <forms@example.com>");
    expect(headers).toMatch(/Subject: =\?UTF-8\?/);
    expect(text.trim()).toBe("Hällo");
    expect(html.trim()).toBe("<p>Hällo &amp; so</p>");
  });

  it("[NOTICES-SAFE] no subject and no address makes a header or a second recipient", async () => {
    const { port, received } = await smtp();
    const { send } = mailer(`smtp://127.0.0.1:${port}`);
    await send({ ...MAIL, subject: "one\r\nBcc: eve@example.com\r\n\r\nbody" });
    expect(received[0]?.to).toEqual(["jane@example.com"]);
    expect(partsOf(received[0]?.raw ?? "").headers).not.toMatch(/^Bcc/m);
    await send({ ...MAIL, to: "jane@example.com, eve@example.com" }).catch(() => {});
    await send({ ...MAIL, to: "jane@example.com\r\nRCPT TO:<eve@example.com>" }).catch(() => {});
    expect(received.flatMap(({ to }) => to)).not.toContain("eve@example.com");
  });

  it("[NOTICES-SMTP] a login is used, including characters that a URL encodes", async () => {
    const { port, received } = await smtp({ ...login, allowInsecureAuth: true });
    await mailer(`smtp://forms:p%40ss%2Fword@127.0.0.1:${port}`).send(MAIL);
    expect(received[0]?.user).toBe("forms");
    await expect(mailer(`smtp://forms:wrong@127.0.0.1:${port}`).send(MAIL)).rejects.toThrow(/EAUTH 535/);
    expect(received).toHaveLength(1);
  });

  it("[NOTICES-SMTP] TLS from the first byte and STARTTLS are used, and a certificate is checked", async () => {
    const { key, cert } = selfSigned();
    const wrapped = await smtp({ secure: true, key, cert });
    const upgraded = await smtp({ key, cert, disabledCommands: [] });
    const urls = [`smtps://localhost:${wrapped.port}`, `smtp://localhost:${upgraded.port}`];
    for (const url of urls) await expect(mailer(url).send(MAIL)).rejects.toThrow(/not accepted/);
    setDefaultCACertificates([...TRUSTED, cert]);
    for (const url of urls) await mailer(url).send(MAIL);
    for (const { received } of [wrapped, upgraded]) expect(received).toMatchObject([{ secure: true }]);
  });

  it("[NOTICES-SMTP] a password is not sent in clear to another machine", async () => {
    const heard: string[] = [];
    // Also this machine, but not one of the addresses exempted as loopback.
    const address = "127.0.0.2";
    const { port, received } = await smtp(
      {
        allowInsecureAuth: true,
        onAuth: ({ username }, _session, done) => {
          heard.push(username ?? "");
          done(null, { user: "forms" });
        },
      },
      address,
    );
    await mailer(`smtp://${address}:${port}`).send(MAIL);
    await expect(mailer(`smtp://forms:secret@${address}:${port}`).send(MAIL)).rejects.toThrow(/not accepted/);
    expect(heard).toEqual([]);
    expect(received).toHaveLength(1);
  });

  it("permanent and temporary refusals are distinguished, and neither mentions the mail", async () => {
    const refuse = (responseCode: number) => ({
      onRcptTo: (_address: unknown, _session: unknown, done: (error?: Error) => void) =>
        done(Object.assign(new Error("no jane@example.com here"), { responseCode })),
    });
    const never = await smtp(refuse(550));
    const later = await smtp(refuse(450));
    const final = await mailer(`smtp://127.0.0.1:${never.port}`)
      .send(MAIL)
      .catch((error: unknown) => error);
    expect(final).toBeInstanceOf(MailRefused);
    const forNow = await mailer(`smtp://127.0.0.1:${later.port}`)
      .send(MAIL)
      .catch((error: unknown) => error);
    expect(forNow).toBeInstanceOf(Error);
    expect(forNow).not.toBeInstanceOf(MailRefused);
    for (const error of [final, forNow]) expect(String(error)).not.toContain("jane");
  });

  it.each([
    ["nothing", ""],
    ["half a greeting", "220-"],
    ["what is no SMTP", "HTTP/1.1 200 OK\r\n\r\n"],
  ])("a server that says %s times out", async (_what, says) => {
    const port = await rude(says);
    await expect(mailer(`smtp://127.0.0.1:${port}`, 200).send(MAIL)).rejects.toThrow(/not accepted/);
  });

  it("a server that is not there is an error, at once", async () => {
    const { port, close } = await startSmtp();
    await close();
    await expect(mailer(`smtp://127.0.0.1:${port}`).send(MAIL)).rejects.toThrow(/not accepted/);
  });
});
