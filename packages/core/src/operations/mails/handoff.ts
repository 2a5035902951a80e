import { type Instant, toIso } from "../../domain/instant.ts";
import type { Letter } from "./render.ts";

/** Brings a code. Opening its link spends nothing: the page asks for the address first. */
export function handoffLetter(about: { url: string; code: string; expiresAt: Instant; message?: string }): Letter {
  const { url, code, expiresAt, message } = about;
  return {
    subject: "A form is waiting for you",
    parts: [
      "Somebody has prepared a form and asks you to go on with it.",
      ...(message === undefined ? [] : [`They write:\n${message}`]),
      { link: url, says: "Open this link and enter your e-mail address" },
      `Or enter this code: ${code}`,
      `Link and code work once, until ${toIso(expiresAt)}. Do not pass them on.`,
    ],
  };
}
