import type { Destination, Json } from "@formbridge/contract";
import { MASK, splitSensitive } from "../fields/mask.ts";
import type { CompiledIntake } from "../intake/compiled-intake.ts";
import type { Submission } from "../submission.ts";

const MAX_EXCERPT = 1_024;
/** Shorter values would match by chance. */
const MIN_MASKED = 3;
const SECRET = /\b(?:rtok|sess|rvw|fbk|whsec)_[\w+/=-]{8,}/g;

/** What was sent and where, which a receiver may quote. */
export interface Quotable {
  submission: Submission;
  intake: CompiledIntake;
  destination: Destination;
}

/**
 * The beginning of a receiver's response, for operators. Receivers often quote the request, so sensitive values, the
 * destination's credentials and anything that looks like one of our secrets are masked.
 */
export function answerExcerpt(answer: string, { submission, intake, destination }: Quotable): string {
  const sensitive = Object.values(splitSensitive(submission.fields, intake).sealed ?? {}).flatMap(textsIn);
  // Longest first, because one value may be part of another.
  const masked = [...sensitive, ...credentialsOf(destination)]
    .sort((one, other) => other.length - one.length)
    .reduce((text, secret) => text.replaceAll(secret, MASK), answer);
  return masked
    .replace(SECRET, MASK)
    .replace(/[^\P{Cc}\n\t]/gu, " ")
    .slice(0, MAX_EXCERPT);
}

function textsIn(value: Json): string[] {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(textsIn);
  return value === null ? [] : spellings(String(value));
}

/** Verbatim, and as escaped in JSON. */
const spellings = (text: string): string[] =>
  text.length < MIN_MASKED ? [] : [text, JSON.stringify(text).slice(1, -1)];

function credentialsOf(destination: Destination): string[] {
  const { headers = {}, secret = "" } = destination;
  const { username = "", password = "", search = "" } = ("url" in destination && URL.parse(destination.url)) || {};
  const login = [username, password].map(decoded);
  const basic = login.some((part) => part !== "") ? Buffer.from(login.join(":")).toString("base64") : "";
  return [...Object.values(headers), secret, ...login, basic, search].flatMap(spellings);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
