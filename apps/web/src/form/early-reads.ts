import type { Link } from "./link.ts";

/** Requests in flight, by URL. */
export type EarlyReads = Map<string, Promise<Response>>;

const TIMEOUT_MS = 30_000;

/** Requests what the form will need while the rest of the page is still loading. */
export function startReads(link: Link): EarlyReads {
  const ask = (path: string): [string, Promise<Response>] => {
    const url = location.origin + path;
    const answer = fetch(url, {
      headers: { accept: "application/json" },
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
      referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    // The code that uses the response handles its failure; it may never be used.
    answer.catch(() => {});
    return [url, answer];
  };
  return new Map(pathsOf(link).map(ask));
}

function pathsOf(link: Link): string[] {
  if (link.kind === "mistyped" || link.kind === "code") return [];
  if (link.kind === "new") return [`/intakes/${encodeURIComponent(link.intakeId)}`];
  const at = link.kind === "token" ? `/resume/${link.resumeToken}` : `/submissions/${link.submissionId}`;
  return [`${at}/intake`, at];
}

/** Returns each early response once; everything else, and a second try, goes to the network. */
export const fetchWith =
  (early: EarlyReads): typeof fetch =>
  (input, init) => {
    const url = String(input);
    const answer = (init?.method ?? "GET") === "GET" ? early.get(url) : undefined;
    early.delete(url);
    return answer ?? fetch(input, init);
  };
