import type { KnownState } from "@formbridge/core";

const VERSION = /^"(\d{1,15})"$/;
const VERSION_AND_TOKEN = /^"v(\d{1,15})-(.*)"$/s;
const QUOTED = /^"(.*)"$/s;

/** `If-Match`: `rtok_…`, `"rtok_…"`, `"42"` or `"v42-rtok_…"`. `*` counts as absent; anything else is read as a token. */
export function parseIfMatch(header: string | undefined): KnownState {
  const text = header?.trim();
  return text === undefined || text === "*" || text === "" ? {} : parseTag(text);
}

/** `If-None-Match`: `*`, or a list of the same tags; a weak tag (`W/`) is treated like a strong one. */
export function parseIfNoneMatch(header: string | undefined): "*" | KnownState[] | undefined {
  const tags = (header ?? "").split(",").map((text) => text.trim());
  if (tags.includes("*")) return "*";
  const named = tags.filter((text) => text !== "").map((text) => parseTag(text.replace(/^W\/(?=")/, "")));
  return named.length === 0 ? undefined : named;
}

function parseTag(text: string): KnownState {
  const version = VERSION.exec(text);
  if (version !== null) return { version: Number(version[1]) };
  const both = VERSION_AND_TOKEN.exec(text);
  if (both !== null) return { version: Number(both[1]), token: both[2] ?? "" };
  return { token: QUOTED.exec(text)?.[1] ?? text };
}
