/** What a name may have at most, in bytes of UTF-8: every file system that a reader may have takes it. */
const MAX_BYTES = 200;
const MAX_EXTENSION = 20;
/** Controls, marks that turn the direction of reading, and what has no shape at all. */
const INVISIBLE = /\p{C}/gu;
/** Not allowed in names somewhere, or read as something else by a shell or a header. */
const UNSAFE = /[<>:"|?*`$%&;{}]/g;
/** Devices, on Windows, whatever follows the dot. */
const RESERVED = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?=\.|$)/i;

/**
 * The name that readers are shown and offered for saving. It is never a path and never names anything at rest. One rule for all:
 * what stands before the last slash or backslash goes, so does what can't be seen; unsafe characters become `_`; blanks at the ends,
 * dots at the end and several blanks in a row go; a device's name gets a `_` in front; too long a name is cut before its extension.
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

/** RFC 6266: to be saved, never shown. A name that plain letters can't write is there twice, the true one as RFC 8187 has it. */
export function attachment(filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\]/g, "_");
  if (plain === filename) return `attachment; filename="${plain}"`;
  const exact = encodeURIComponent(filename).replace(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}
