import { type Destination, isReservedHeader } from "@formbridge/contract";
import { loginOf } from "../read-url.ts";

/** The destination's own headers, then ours, which win. */
export function headersFor(
  { url, own = {} }: { url: URL; own?: Destination["headers"] },
  ours: Record<string, string>,
): Record<string, string> {
  const kept = Object.entries(own).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    ...authorizationOf(url),
    // The definition may be older than the rule that refuses these.
    ...Object.fromEntries(kept.filter(([name]) => !isReservedHeader(name))),
    ...ours,
    "content-type": "application/json",
    "user-agent": "FormBridge",
  };
}

/** `https://user:password@host` means Basic authentication. */
function authorizationOf(url: URL): Record<string, string> {
  const { username = "", password = "" } = loginOf(url);
  if (username === "" && password === "") return {};
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`, "utf8").toString("base64")}` };
}
