import { Refusal } from "./failure.ts";

export function readUrl(text: string | undefined, schemes: readonly string[]): URL {
  const url = text === undefined ? null : URL.parse(text);
  if (url === null || !schemes.includes(url.protocol)) {
    throw new Refusal(`its URL doesn't start with ${schemes.join(" or ")}`, "final");
  }
  return url;
}

/** User name and password of a URL, percent-decoded. */
export function loginOf(url: URL): { username?: string; password?: string } {
  return {
    ...(url.username !== "" && { username: decoded(url.username) }),
    ...(url.password !== "" && { password: decoded(url.password) }),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
