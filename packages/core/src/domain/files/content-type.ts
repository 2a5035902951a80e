/**
 * Detects what a file is from its bytes.
 *
 *   known magic ────▶ that type           several types at once ────▶ refused
 *   text ──▶ has active markup ────▶ HTML, SVG or XML;   otherwise the announced text type, or text/plain
 *   anything else ──▶ the announced type, if the field names exactly it and such files have no magic; or
 * application/octet-stream
 *
 * The result must match what was announced and what the field accepts. Types that a browser would run are accepted only
 * where the field names exactly them.
 */

/** What was found while reading the file. */
export interface Content {
  /** The type that the first bytes indicate. */
  magic?: string;
  /** Valid UTF-8 without control characters. */
  isText: boolean;
  /** The kind of document, if it contains markup that a browser would run or follow. */
  markup?: "html" | "svg" | "xml";
  /** The first non-blank character. */
  opening?: string;
  /** Files of the announced type have no magic. */
  isUnmarked?: boolean;
  /** Another type it could be, for readers that don't start at the beginning. */
  also?: string;
}

export const UNKNOWN_TYPE = "application/octet-stream";
const XML_TYPES = ["application/xml", "text/xml"];
const MARKUP_TYPES = { html: "text/html", svg: "image/svg+xml", xml: "application/xml" } as const;

/** Aliases of the same type. */
const SAME: Record<string, string> = {
  "image/jpg": "image/jpeg",
  "image/pjpeg": "image/jpeg",
  "image/x-png": "image/png",
  "image/x-ms-bmp": "image/bmp",
  "image/x-tiff": "image/tiff",
  "application/x-pdf": "application/pdf",
  "application/x-zip-compressed": "application/zip",
  "application/x-zip": "application/zip",
  "application/x-gzip": "application/gzip",
  "application/x-rar-compressed": "application/vnd.rar",
  "application/x-rar": "application/vnd.rar",
  "audio/mp3": "audio/mpeg",
  "audio/x-wav": "audio/wav",
  "audio/wave": "audio/wav",
  "audio/vnd.wave": "audio/wav",
  "audio/x-m4a": "audio/mp4",
  "audio/m4a": "audio/mp4",
  "audio/x-flac": "audio/flac",
  "video/x-m4v": "video/mp4",
  "text/rtf": "application/rtf",
  "text/xml": "application/xml",
  "application/xhtml+xml": "text/html",
};

/** Types that a browser may run are served as plain bytes. */
export const servedType = (type: string): string =>
  RUNS.has(canonical(type)) || /xml$/.test(plainType(type)) ? UNKNOWN_TYPE : plainType(type);

/** In lower case, without parameters. */
export const plainType = (type: string): string => (type.split(";")[0] ?? "").trim().toLowerCase();
const canonical = (type: string): string => SAME[plainType(type)] ?? plainType(type);

const TEXT_TYPE = /^text\/|^application\/(?:json|x-ndjson|yaml|x-yaml|toml|sql|csv|javascript)$|\+json$|\+yaml$/;
/** Text types that a browser would run. */
const RUNS = new Set([
  "text/html",
  "image/svg+xml",
  "text/javascript",
  "application/javascript",
  "application/ecmascript",
  "text/xsl",
  "application/xslt+xml",
]);

/** `image/*` matches every image type. */
export const accepts = (pattern: string, mimeType: string): boolean => {
  const wanted = plainType(pattern);
  if (wanted === "*/*") return true;
  if (wanted.endsWith("/*")) return plainType(mimeType).startsWith(wanted.slice(0, -1));
  return canonical(wanted) === canonical(mimeType);
};

const names = (accept: readonly string[], type: string): boolean =>
  accept.some((pattern) => !pattern.endsWith("/*") && canonical(pattern) === canonical(type));

/** The type that the bytes indicate; `announced` only distinguishes text types and types without magic. */
export function typeOf(content: Content, announced: string, accept: readonly string[]): string {
  const said = plainType(announced);
  if (content.markup !== undefined && (content.magic === undefined || XML_TYPES.includes(content.magic))) {
    const found = MARKUP_TYPES[content.markup];
    return canonical(said) === canonical(found) ? said : found;
  }
  if (content.magic !== undefined) return canonical(content.magic) === canonical(said) ? said : content.magic;
  if (content.isText) return textType(content, said);
  // For a type without magic that the field names explicitly, there is nothing more to check.
  const isPossible = content.isUnmarked === true && !TEXT_TYPE.test(said) && !RUNS.has(canonical(said));
  return isPossible && names(accept, said) ? said : UNKNOWN_TYPE;
}

function textType({ opening = "" }: Content, said: string): string {
  const isJson = said === "application/json" || said.endsWith("+json");
  if (isJson && !/[{["\-0-9tfn]/.test(opening)) return "text/plain";
  return TEXT_TYPE.test(said) && said !== "text/html" && said !== "text/xml" ? said : "text/plain";
}

/** Why a file with this content doesn't fit its field; undefined if it does. */
export function misfit(
  content: Content,
  { announced, accept }: { announced: string; accept: readonly string[] },
): { type: string; why: string } | undefined {
  const type = typeOf(content, announced, accept);
  if (content.also !== undefined) return { type, why: `is ${type} and ${content.also} at once` };
  const isOpen = plainType(announced) === UNKNOWN_TYPE;
  if (!isOpen && canonical(type) !== canonical(announced))
    return { type, why: `is ${type}, not ${plainType(announced)}` };
  if (!accept.some((pattern) => accepts(pattern, type))) return { type, why: `is ${type}` };
  const runs = RUNS.has(canonical(type)) || content.markup !== undefined;
  if (runs && !names(accept, type)) return { type, why: `is ${type}, which a browser may execute` };
  return undefined;
}
