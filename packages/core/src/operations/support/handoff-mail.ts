import { type Instant, toIso } from "../../domain/instant.ts";
import type { Mail } from "../../ports/mailer.ts";

/** The mail that brings a code. Opening its link spends nothing: the page asks for the address first. */
export function handoffMail(about: {
  url: string;
  code: string;
  expiresAt: Instant;
  message?: string;
}): Pick<Mail, "subject" | "text"> {
  const { url, code, expiresAt, message } = about;
  const lines = [
    "Somebody has prepared a form and asks you to go on with it.",
    ...(message === undefined ? [] : ["", "They write:", message]),
    "",
    `Open this link and enter your e-mail address: ${url}`,
    `Or enter this code: ${code}`,
    "",
    `Link and code work once, until ${toIso(expiresAt)}. Do not pass them on.`,
  ];
  return { subject: "A form is waiting for you", text: lines.join("\n") };
}
