import type { SmtpOptions } from "@formbridge/outbound";
import { ConfigError, type Reader } from "./reader.ts";

const SENDER = /^(?:[^<>@\r\n]*<[^\s<>@,]+@[^\s<>@,]+>|[^\s<>@,]+@[^\s<>@,]+)$/;

/** The mail server, if one is configured. A URL with a password isn't shown. */
export function mailOf(read: Reader): SmtpOptions | undefined {
  const url = read.optional("FORMBRIDGE_SMTP_URL");
  const from = read.optional("FORMBRIDGE_MAIL_FROM");
  const timeoutMs = read.number("FORMBRIDGE_SMTP_TIMEOUT_MS", { min: 1 });
  if (url === undefined) return undefined;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !["smtp:", "smtps:"].includes(parsed.protocol) || parsed.hostname === "") {
    throw new ConfigError(
      "FORMBRIDGE_SMTP_URL is not shown; it takes smtp://[<user>:<password>@]<host>[:<port>], or smtps:// for TLS.",
    );
  }
  if (from === undefined || !SENDER.test(from)) {
    const got = from === undefined ? "not set" : JSON.stringify(from);
    throw new ConfigError(
      `FORMBRIDGE_MAIL_FROM is ${got}; with FORMBRIDGE_SMTP_URL it takes an address, or Name <address>.`,
    );
  }
  return { url, from, timeoutMs };
}
