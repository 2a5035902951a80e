/** The maximum length of a name in bytes of UTF-8, which every file system accepts. */
const MAX_BYTES = 200;
const MAX_EXTENSION = 20;
/** Control characters, direction marks, and unassigned characters. */
const INVISIBLE = /\p{C}/gu;
/** Not allowed in names on some system, or special in a shell or header. */
const UNSAFE = /[<>:"|?*`$%&;{}]/g;
/** Device names on Windows, with any extension. */
const RESERVED = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?=\.|$)/i;

/**
 * The name that is shown and offered for saving; never used as a path or for storage. Drops everything up to the last
 * slash or backslash, invisible characters, blanks at the ends, trailing dots and repeated blanks; replaces unsafe
 * characters by `_`; prefixes device names with `_`; shortens long names before the extension.
 */
export function displayName(given: string): string {
  const last = given.normalize("NFC").split(/[/\\]/).at(-1) ?? "";
  const plain = last
    .replace(/[\t\n\v\f\r\u2028\u2029]/g, " ")
    .replace(INVISIBLE, "")
    .replace(/\s/g, " ")
    .replace(UNSAFE, "_")
    .replace(/ {2,}/g, " ")
    .replace(/^ +|[ .]+$/g, "");
  const safe = RESERVED.test(plain) ? `_${plain}` : plain;
  const short = cut(safe);
  return short === "" || /^[._]+$/.test(short) ? "file" : short;
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

function cut(name: string): string {
  if (bytesOf(name) <= MAX_BYTES) return name;
  const dot = name.lastIndexOf(".");
  const extension = dot > 0 && bytesOf(name.slice(dot)) <= MAX_EXTENSION ? name.slice(dot) : "";
  let stem = "";
  let room = MAX_BYTES - bytesOf(extension);
  for (const character of extension === "" ? name : name.slice(0, dot)) {
    room -= bytesOf(character);
    if (room < 0) break;
    stem += character;
  }
  return stem.replace(/[ .]+$/, "") + extension;
}

/**
 * RFC 6266: to be saved, never displayed inline. A name that isn't ASCII is sent twice, the real one encoded according
 * to RFC 8187.
 */
export function attachment(filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\]/g, "_");
  if (plain === filename) return `attachment; filename="${plain}"`;
  const exact = encodeURIComponent(filename).replace(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}
