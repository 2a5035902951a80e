/** What a conditional header names. */
export interface Condition {
  token?: string;
  version?: number;
}

const VERSION = /^"(\d{1,15})"$/;
const VERSION_AND_TOKEN = /^"v(\d{1,15})-(.*)"$/s;
const QUOTED = /^"(.*)"$/s;

/** The four spellings: `rtok_…`, `"rtok_…"`, `"42"`, `"v42-rtok_…"`. `*` counts as absent; anything else is read as a token. */
export function parseCondition(header: string | undefined): Condition {
  const text = header?.trim();
  if (text === undefined || text === "*" || text === "") return {};
  const version = VERSION.exec(text);
  if (version !== null) return { version: Number(version[1]) };
  const both = VERSION_AND_TOKEN.exec(text);
  if (both !== null) return { version: Number(both[1]), token: both[2] ?? "" };
  return { token: QUOTED.exec(text)?.[1] ?? text };
}
