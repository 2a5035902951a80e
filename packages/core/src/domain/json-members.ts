/**
 * `JSON.parse` silently keeps the last of several members with the same name. To notice, count the members as sent: if
 * the parsed tree has fewer, one was lost. Only then is the text searched for its name.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** The total number of members in a valid JSON text. Outside strings, every member has one colon. */
export function countMembers(bytes: Buffer): number {
  let members = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) inString = !inString;
    else if (byte === COLON && !inString) members += 1;
    else if (byte === BACKSLASH) at += 1;
  }
  return members;
}

interface Level {
  /** Absent for an array. */
  names?: Set<string>;
  current: string;
}

/** Strings, with the colon that makes them a name, and brackets: the only parts of a JSON text that matter here. */
const PARTS = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]/g;

/** The dot-path, without array positions, of the first duplicate member in a valid JSON text. */
export function findRepeatedMember(text: string): string | undefined {
  const levels: Level[] = [];
  for (const [part, name, colon] of text.matchAll(PARTS)) {
    if (part === "{") levels.push({ names: new Set(), current: "" });
    else if (part === "[") levels.push({ current: "" });
    else if (part === "}" || part === "]") levels.pop();
    const level = levels.at(-1);
    if (name === undefined || colon === undefined || level?.names === undefined) continue;
    level.current = JSON.parse(name) as string;
    if (level.names.has(level.current)) return pathOf(levels);
    level.names.add(level.current);
  }
  return undefined;
}

const pathOf = (levels: readonly Level[]): string =>
  levels
    .map(({ current }) => current)
    .filter((name) => name !== "")
    .join(".");
