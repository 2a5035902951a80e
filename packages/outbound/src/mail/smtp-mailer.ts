import { isIP } from "node:net";
import { type Mailer, MailRefused } from "@formbridge/core";
import type { Transporter } from "nodemailer";

export interface SmtpOptions {
  /** `smtp://[<user>:<password>@]<host>[:<port>]`, or `smtps://` for TLS from the start. */
  url: string;
  /** The sender's address, with or without a name: Forms <forms@example.com>. */
  from: string;
  /** How long one mail may take, from connecting to the server's acceptance. */
  timeoutMs: number;
}

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

function transportOptions({ url, timeoutMs }: SmtpOptions) {
  const { protocol, hostname, port, username, password } = new URL(url);
  const secure = protocol === "smtps:";
  const host = hostname.replace(/^\[|\]$/g, "");
  return {
    host,
    port: port === "" ? (secure ? 465 : 587) : Number(port),
    secure,
    // STARTTLS is used wherever it is offered; a password is never sent without TLS, except to this machine.
    requireTLS: !secure && username !== "" && !LOOPBACK.includes(hostname),
    ...(username !== "" && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    ...(isIP(host) === 0 && { tls: { servername: host } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** Sends mail to an SMTP server. One connection per mail: there are few, and servers soon cut idle ones. */
export function createSmtpMailer(options: SmtpOptions): Mailer {
  let transport: Transporter | undefined;
  return {
    async send({ to, subject, text, html }) {
      // Loaded with the first mail, so that the start isn't delayed.
      transport ??= (await import("nodemailer")).createTransport(transportOptions(options));
      // Passed as an object, so that it can't be parsed as several addresses.
      const mail = { from: options.from, to: { name: "", address: to }, subject, text, html };
      await inTime(transport.sendMail(mail), options.timeoutMs).catch((error: unknown) => {
        throw told(error);
      });
    },
  };
}

/** Also ends a session with a server that keeps responding but never finishes. */
async function inTime<Result>(work: Promise<Result>, timeoutMs: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(Object.assign(new Error("late"), { code: "ETIMEDOUT" })), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Only the codes: a server's message may contain the address, or more of the mail. */
function told(error: unknown): Error {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  const words = ["The mail was not accepted", code, responseCode].filter((part) => part !== undefined).join(" ");
  // A 5yz about the address or the mail is final; one about the login has to be fixed by the operator.
  const isFinal = (code === "EENVELOPE" || code === "EMESSAGE") && Number(responseCode) >= 500;
  return isFinal ? new MailRefused(words) : new Error(words);
}
