import type { Mail } from "../../ports/mailer.ts";

/** A part of a letter. Text is always escaped in HTML. */
type Part = string | { link: string; says: string } | { list: readonly string[] };

export interface Letter {
  subject: string;
  parts: readonly Part[];
}

const MAX_SUBJECT = 150;

/** A subject is one line: replace line breaks and invisible characters by spaces. */
function oneLine(text: string): string {
  const plain = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  const letters = [...plain];
  return letters.length <= MAX_SUBJECT ? plain : `${letters.slice(0, MAX_SUBJECT - 1).join("")}…`;
}

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (letter) => ESCAPES[letter] ?? letter);
const lines = (text: string): string => escaped(text).replaceAll(/\r\n|\r|\n/g, "<br>");

function asText(part: Part): string {
  if (typeof part === "string") return part;
  return "list" in part ? part.list.map((item) => `- ${item}`).join("\n") : `${part.says}: ${part.link}`;
}

function asHtml(part: Part): string {
  if (typeof part === "string") return `<p>${lines(part)}</p>`;
  if ("list" in part) return `<ul>${part.list.map((item) => `<li>${lines(item)}</li>`).join("")}</ul>`;
  return `<p>${escaped(part.says)}:<br><a href="${escaped(part.link)}">${escaped(part.link)}</a></p>`;
}

/** The letter as text and as HTML, which loads no external content. */
export function render({ subject, parts }: Letter): Omit<Mail, "to"> {
  const title = oneLine(subject);
  const body = parts.map(asHtml).join("\n");
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title></head>
<body>
${body}
</body></html>
`;
  return { subject: title, text: `${parts.map(asText).join("\n\n")}\n`, html };
}
