import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";

const FOLDER = new URL("../../form-page/", import.meta.url);

/** Each stands after those that it imports from: together they are one script. */
const MODULES = [
  "wire",
  "changes",
  "schema",
  "dom",
  "host",
  "state",
  "field",
  "controls",
  "groups",
  "form",
  "main",
] as const;

const read = (name: string): string => readFileSync(new URL(name, FOLDER), "utf8");

/** Modules that import from one another only, as one: their imports are dropped, and what they export stays in scope. */
const scriptOf = (): string =>
  MODULES.map((name) => stripTypeScriptTypes(read(`${name}.ts`)))
    .join("\n")
    .replaceAll(/^import\s[^;]*;$/gm, "")
    .replaceAll(/^export (?=(?:async )?function|const|class)/gm, "")
    .replaceAll(/^\s+$/gm, "");

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

let parts: { script: string; style: string } | undefined;

/**
 * The form as one document that loads nothing. It runs its own script alone, and talks to the host, and to `uploadOrigins` with files.
 */
export function formPage(uploadOrigins: readonly string[]): string {
  parts ??= { script: scriptOf(), style: read("style.css") };
  const { script, style } = parts;
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    `connect-src ${uploadOrigins.length === 0 ? "'none'" : uploadOrigins.join(" ")}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Form</title>
<style>${style}</style>
</head>
<body>
<main><p role="status">Opening the form …</p></main>
<script type="module">${script}</script>
</body>
</html>
`;
}
