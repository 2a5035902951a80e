import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Makes the form's HTML from the script built by apps/web, which is read on first use. */
export function createFormPage(file: string): (uploadOrigins: readonly string[]) => string {
  let script: string | undefined;
  return (uploadOrigins) => {
    // A closing script tag inside a string would end our script element.
    script ??= readFileSync(file, "utf8").replaceAll(/<\/(?=script)/gi, "<\\/");
    return documentOf(script, uploadOrigins);
  };
}

/** A self-contained document: it runs only its own script, talks to the host, and uploads files to `uploadOrigins`. */
function documentOf(script: string, uploadOrigins: readonly string[]): string {
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
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
</head>
<body>
<main></main>
<script type="module">${script}</script>
</body>
</html>
`;
}
