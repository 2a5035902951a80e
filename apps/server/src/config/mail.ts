import type { SmtpOptions } from "@formbridge/outbound";

const SENDER = /^(?:[^<>@\r\n]*<[^\s<>@,]+@[^\s<>@,]+>|[^\s<>@,]+@[^\s<>@,]+)$/;

/** The mail server, if one is configured, or what is wrong with it. A URL with a password isn't shown. */
export function readMail(given: {
  url: string | undefined;
  from: string | undefined;
  timeoutMs: number;
}): SmtpOptions | { complaint: string } | undefined {
  const { url, from, timeoutMs } = given;
  if (url === undefined) return undefined;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !["smtp:", "smtps:"].includes(parsed.protocol) || parsed.hostname === "") {
    return {
      complaint:
        "FORMBRIDGE_SMTP_URL is not shown; it takes smtp://[<user>:<password>@]<host>[:<port>], or smtps:// for TLS.",
    };
  }
  if (from === undefined || !SENDER.test(from)) {
    const got = from === undefined ? "not set" : JSON.stringify(from);
    return {
      complaint: `FORMBRIDGE_MAIL_FROM is ${got}; with FORMBRIDGE_SMTP_URL it takes an address, or Name <address>.`,
    };
  }
  return { url, from, timeoutMs };
}
