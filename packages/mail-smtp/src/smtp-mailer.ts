import { isIP } from "node:net";
import { type Mailer, MailRefused } from "@formbridge/core";
import type { Transporter } from "nodemailer";

export interface SmtpOptions {
  /** smtp://[<user>:<password>@]<host>[:<port>], or smtps:// for TLS from the first byte. */
  url: string;
  /** The address that mail comes from, with or without a name: Forms <forms@example.com>. */
  from: string;
  /** How long one mail may take, from connecting to the server's word. */
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
    // Every server that offers STARTTLS is taken at its word; a password goes nowhere without TLS, but to this machine.
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

/** Hands mail to an SMTP server. A connection for each mail: there are few, and an idle one is the first to be cut. */
export function createSmtpMailer(options: SmtpOptions): Mailer {
  let transport: Transporter | undefined;
  return {
    async send({ to, subject, text, html }) {
      // Loaded with the first mail: most starts send none soon, and agents wait for them.
      transport ??= (await import("nodemailer")).createTransport(transportOptions(options));
      // As an object, an address is one address, whatever is in it.
      const mail = { from: options.from, to: { name: "", address: to }, subject, text, html };
      await inTime(transport.sendMail(mail), options.timeoutMs).catch((error: unknown) => {
        throw told(error);
      });
    },
  };
}

/** A server that answers now and then, and never comes to an end, is given up too. */
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

/** The codes alone: the words of a server may hold the address, or more of the mail. */
function told(error: unknown): Error {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  const words = ["The mail was not taken", code, responseCode].filter((part) => part !== undefined).join(" ");
  // A 5yz of the address or the mail is final; one of the login is for the operator to mend.
  const isFinal = (code === "EENVELOPE" || code === "EMESSAGE") && Number(responseCode) >= 500;
  return isFinal ? new MailRefused(words) : new Error(words);
}
