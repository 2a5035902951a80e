import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { type Content, plainType } from "../../domain/files/content-type.ts";

/** Enough for every magic number, and for the first entries of a package; more is never held in memory. */
const HEAD_BYTES = 256 * 1024;
/** The end record of a zip directory starts at most this far from the end. */
const TAIL_BYTES = 65_557;
/** Markup this early in a binary file is meant for a reader that guesses the type. */
const POLYGLOT_BYTES = 1024;
/** Longer than any marker, so that none is missed between two chunks. */
const OVERLAP = 64;

export interface Inspected {
  sizeBytes: number;
  sha256: string;
  content: Content;
}

/** Reads a file once from start to end, holding little of it in memory. */
export async function inspectFile(bytes: AsyncIterable<Uint8Array>, announced: string): Promise<Inspected> {
  const digest = createHash("sha256");
  const text = createTextWatch();
  const office = createOfficeWatch();
  const head: Buffer[] = [];
  let headBytes = 0;
  const tail = createTail();
  let sizeBytes = 0;
  for await (const piece of bytes) {
    const chunk = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    digest.update(chunk);
    sizeBytes += chunk.length;
    if (headBytes < HEAD_BYTES) {
      // Copied, because the reader may reuse its buffer.
      head.push(Buffer.from(chunk.subarray(0, HEAD_BYTES - headBytes)));
      headBytes += chunk.length;
    }
    tail.see(chunk);
    text.see(chunk);
    office.see(chunk);
  }
  const start = Buffer.concat(head);
  // Loaded with the first file, because it knows hundreds of formats.
  const formats = await import("file-type");
  const content = await contentOf(formats, { start, tail: tail.bytes(), text: text.end(), office: office.kind() });
  const isUnmarked = !hasMagic(formats, announced);
  return { sizeBytes, sha256: digest.digest("hex"), content: { ...content, isUnmarked } };
}

type Formats = typeof import("file-type");

/** Images, audio, video, fonts, office documents, and every other type that the library knows. */
const hasMagic = ({ supportedMimeTypes }: Formats, type: string): boolean =>
  supportedMimeTypes.has(plainType(type) as never) ||
  /^(?:image|audio|video|font)\/|officedocument|opendocument|ms-|msword|pdf|zip/.test(plainType(type));

interface Seen {
  start: Buffer;
  tail: Buffer;
  text: TextSeen;
  office: string | undefined;
}

/** Formats that are text themselves, and more than text. */
const TEXT_FORMATS = new Set(["application/pdf", "application/postscript", "application/eps", "application/rtf"]);
const MARKUP_FORMATS = new Set(["application/xml", "image/svg+xml", "text/html"]);

async function contentOf({ fileTypeFromBuffer }: Formats, { start, tail, text, office }: Seen): Promise<Content> {
  const known = (await fileTypeFromBuffer(start).catch(() => undefined))?.mime;
  const magic = known === "application/x-cfb" ? (office ?? known) : known;
  if (text.isText && !(magic !== undefined && TEXT_FORMATS.has(magic))) {
    const { markup, opening } = text;
    return {
      isText: true,
      // Two letters that some format also starts with don't turn a text into that format.
      ...(magic !== undefined && MARKUP_FORMATS.has(magic) && { magic }),
      ...(markup !== undefined && { markup }),
      ...(opening !== undefined && { opening }),
    };
  }
  const also = alsoIs({ start, tail, magic });
  return { isText: false, ...(magic !== undefined && { magic }), ...(also !== undefined && { also }) };
}

/** Keeps the last chunks without copying the earlier ones. */
function createTail(): { see(chunk: Buffer): void; bytes(): Buffer } {
  const recent: Buffer[] = [];
  let held = 0;
  return {
    see(chunk) {
      recent.push(chunk);
      held += chunk.length;
      for (let [first] = recent; first !== undefined && held - first.length >= TAIL_BYTES; [first] = recent) {
        recent.shift();
        held -= first.length;
      }
    },
    bytes: () => Buffer.concat(recent).subarray(-TAIL_BYTES),
  };
}

/** Markup of documents and of active content, from `<` on; in lower case. */
const MARKUP: readonly [kind: "html" | "svg" | "xml", pattern: RegExp][] = [
  ["svg", /<(?:[a-z0-9_-]+:)?svg[\s>/]/y],
  [
    "html",
    /<(?:!doctype\s+html|\?php|(?:[a-z0-9_-]+:)?(?:html|head|body|script|iframe|frame|frameset|object|embed|applet|form|meta|base|link|img|style|video|audio|math|a|isindex|template|title|table|input|button|details|marquee|plaintext|xmp)(?:[\s>/]|$))/y,
  ],
  ["xml", /<(?:\?xml-stylesheet|!entity|!doctype|(?:[a-z0-9_-]+:)?stylesheet[\s>])/y],
];

/** The first markup decides the kind of document. */
function markupIn(text: string): "html" | "svg" | "xml" | undefined {
  for (let at = text.indexOf("<"); at >= 0; at = text.indexOf("<", at + 1)) {
    for (const [kind, pattern] of MARKUP) {
      pattern.lastIndex = at;
      if (pattern.test(text)) return kind;
    }
  }
  if (text.includes("script:") && /(?:java|vb)script:/.test(text)) return "html";
  return text.includes("1999/xhtml") ? "xml" : undefined;
}

/** Another type that a reader which looks elsewhere in the file would detect. */
function alsoIs({
  start,
  tail,
  magic,
}: {
  start: Buffer;
  tail: Buffer;
  magic: string | undefined;
}): string | undefined {
  const early = start.subarray(0, POLYGLOT_BYTES).toString("latin1").toLowerCase();
  if (/<script[\s>]|<html[\s>]|<!doctype html|<svg[\s>]|<\?php|<iframe[\s>]/.test(early)) return "markup";
  const isPackage = magic === undefined || /zip|openxml|opendocument|epub|java-archive|vnd\.|x-msdownload/.test(magic);
  if (!isPackage && endsAsArchive(tail)) return "application/zip";
  if (magic !== "application/pdf" && early.includes("%pdf-")) return "application/pdf";
  return undefined;
}

/** The end record of a zip file states the length of its comment, which must reach exactly to the end. */
function endsAsArchive(tail: Buffer): boolean {
  for (let at = tail.lastIndexOf("PK\x05\x06", undefined, "latin1"); at >= 0; ) {
    if (at + 22 <= tail.length && at + 22 + tail.readUInt16LE(at + 20) === tail.length) return true;
    at = at === 0 ? -1 : tail.lastIndexOf("PK\x05\x06", at - 1, "latin1");
  }
  return false;
}

interface TextSeen {
  isText: boolean;
  markup?: "html" | "svg" | "xml";
  opening?: string;
}

const BLANK = /^[\s\ufeff]*/;
/** Control characters that don't occur in text; tab, line feed, form feed, carriage return and escape do. */
const CONTROL = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === 0x7f || (byte < 0x20 && ![0x09, 0x0a, 0x0c, 0x0d, 0x1b].includes(byte)) ? 1 : 0,
);

function hasControl(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; at++) if (CONTROL[bytes[at] ?? 0] === 1) return true;
  return false;
}

/** Follows a text through its chunks: is all of it text, and does it contain markup? */
function createTextWatch(): { see(chunk: Buffer): void; end(): TextSeen } {
  let isText = true;
  let rest: Buffer = Buffer.alloc(0);
  let before = "";
  let opening: string | undefined;
  let markup: TextSeen["markup"];
  const look = (whole: Buffer): void => {
    opening ??= whole.toString("utf8").replace(BLANK, "").at(0);
    // Most texts lack the characters that markup needs, so skip decoding them.
    const mayHold = before.includes("<") || whole.includes("<") || whole.includes(":");
    if (mayHold) markup ??= markupIn(before + whole.toString("latin1").toLowerCase());
    before = (before + whole.subarray(-OVERLAP).toString("latin1").toLowerCase()).slice(-OVERLAP);
  };
  return {
    see(chunk) {
      if (!isText) return;
      const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const split = completeUntil(all);
      const whole = all.subarray(0, split);
      rest = Buffer.from(all.subarray(split));
      if (!isUtf8(whole) || hasControl(whole)) isText = false;
      else look(whole);
    },
    end() {
      if (rest.length > 0) isText = false;
      return { isText, ...(markup !== undefined && { markup }), ...(opening !== undefined && { opening }) };
    },
  };
}

/** Where the last complete UTF-8 character ends. */
function completeUntil(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes.length;
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 0;
    if (needs > 0) return needs > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

const OFFICE: readonly [mime: string, stream: Buffer][] = [
  ["application/msword", Buffer.from("WordDocument", "utf16le")],
  ["application/vnd.ms-excel", Buffer.from("Workbook", "utf16le")],
  ["application/vnd.ms-powerpoint", Buffer.from("PowerPoint Document", "utf16le")],
  ["application/vnd.ms-outlook", Buffer.from("__nameid_version1.0", "utf16le")],
];
const CFB = Buffer.from("d0cf11e0a1b11ae1", "hex");

/** Old office files use the same container as installers; the names of their streams distinguish them. */
function createOfficeWatch(): { see(chunk: Buffer): void; kind(): string | undefined } {
  let first: Buffer | undefined;
  let before: Buffer = Buffer.alloc(0);
  let kind: string | undefined;
  return {
    see(chunk) {
      first ??= Buffer.from(chunk.subarray(0, CFB.length));
      if (kind !== undefined || !first.equals(CFB)) return;
      const piece = Buffer.concat([before, chunk]);
      kind = OFFICE.find(([, stream]) => piece.includes(stream))?.[0];
      before = Buffer.from(piece.subarray(-OVERLAP));
    },
    kind: () => kind,
  };
}
