import type { Loose } from "../support/harness.ts";

/** Every tool name in a text; what follows `formbridge_` in an id or a URI is none. */
export const toolsNamedIn = (texts: unknown): Set<string> =>
  new Set((JSON.stringify(texts) ?? "").match(/(?<![\w/:.-])formbridge_[a-z0-9_-]+[a-z0-9]/g) ?? []);

/** Terms of HTTP, which mean nothing to a caller of tools. */
const OF_HTTP = /If-Match|\bheaders?\b|in the path|\bbody\b|Authorization|Idempotency-Key|\bPATCH\b|\bPOST\b/;

/** What is wrong with a refusal's advice, if anything. */
export function problemsOfRefusal({ error }: Loose, listed: ReadonlySet<string>): string[] {
  const { proposal, nextActions = [], message } = error;
  const hints = nextActions.map(({ hint = "" }: Loose) => hint);
  const texts = [message, proposal?.note ?? "", ...hints];
  const unlisted = [...toolsNamedIn([texts, proposal?.tool])].filter((name) => !listed.has(name));
  return [
    ...(proposal?.tool === undefined ? [`no proposal: ${JSON.stringify(error).slice(0, 300)}`] : []),
    ...unlisted.map((name) => `${name} is not listed`),
    ...texts.filter((text) => OF_HTTP.test(text)).map((text) => `words of HTTP: ${text}`),
  ];
}

/** The arguments of a proposal, with what it leaves to the caller. */
export function supplied(proposal: Loose, bag: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const args = structuredClone(proposal.arguments);
  for (const path of proposal.supply ?? []) {
    const [first = "", ...rest] = path.split(".");
    if (rest.length === 0) args[first] = bag[path];
    else args[first] = { ...args[first], [rest.join(".")]: bag[path] };
  }
  return args;
}
