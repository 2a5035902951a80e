/*
 * Checks a destination as far as the definition allows. Whether an address may be reached depends on the operator's
 * settings and on DNS at that moment, so that is checked on every delivery.
 */
import {
  type Destination,
  type DestinationInput,
  type IntakeDefinition,
  isReservedHeader,
  QUEUE_SCHEMES,
  WEBHOOK_SCHEMES,
} from "@formbridge/contract";
import type { Problems } from "./definition-problems.ts";

export function checkDestination(destination: DestinationInput, problems: Problems): destination is Destination {
  const before = problems.list.length;
  const { kind, url, name } = destination;
  if (kind === "webhook") checkUrl({ url, schemes: WEBHOOK_SCHEMES, at: ["destination", "url"] }, problems);
  if (kind === "queue") {
    checkUrl({ url, schemes: QUEUE_SCHEMES, at: ["destination", "url"] }, problems);
    checkQueueName(destination, problems);
  }
  if (kind === "callback" && isEmpty(name)) {
    problems.add(["destination", "name"], "is required: the name of a registered callback", "required");
  }
  checkHeaders(destination.headers, problems);
  return problems.list.length === before;
}

export function checkEventWebhooks(hooks: IntakeDefinition["eventWebhooks"] = [], problems: Problems): void {
  for (const [index, { url }] of hooks.entries()) {
    checkUrl({ url, schemes: WEBHOOK_SCHEMES, at: ["eventWebhooks", String(index), "url"] }, problems);
  }
}

const isEmpty = (text: string | undefined): boolean => text === undefined || text === "";

function checkUrl(
  asked: { url: string | undefined; schemes: readonly string[]; at: string[] },
  problems: Problems,
): void {
  const { url, schemes, at } = asked;
  if (url === undefined) {
    problems.add(at, `is required: a URL that starts with ${schemes.join(" or ")}`, "required");
    return;
  }
  const parsed = URL.parse(url);
  if (parsed === null || !schemes.includes(parsed.protocol)) {
    problems.add(at, `must be a URL that starts with ${schemes.join(" or ")}`, "invalid_format");
    return;
  }
  // URL parsing normalizes only the host of an http URL; deliveries parse every host as if it were one.
  if (!URL.canParse(`http://${parsed.hostname}`)) problems.add(at, "must name a host", "invalid_format");
  if (/^rediss?:$/.test(parsed.protocol) && !/^\/?\d*$/.test(parsed.pathname)) {
    problems.add(at, "must have a database number as its path, or no path", "invalid_format");
  }
}

/** Spaces and wildcards are special in NATS subjects. */
const SUBJECT = /^[^\s*>.]+(?:\.[^\s*>.]+)*$/;

function checkQueueName({ url = "", name }: DestinationInput, problems: Problems): void {
  const at = ["destination", "name"];
  if (name === undefined || isEmpty(name)) {
    problems.add(at, "is required: the queue, the subject or the stream to publish to", "required");
  } else if (/^(?:nats|tls):/i.test(url) && !SUBJECT.test(name)) {
    problems.add(at, "must be a subject without spaces and wildcards", "invalid_format");
  }
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

function checkHeaders(headers: DestinationInput["headers"] = {}, problems: Problems): void {
  for (const [name, value] of Object.entries(headers)) {
    const at = ["destination", "headers", name];
    if (!HEADER_NAME.test(name)) problems.add(at, "isn't a valid header name", "invalid_format");
    else if (isReservedHeader(name)) problems.add(at, "is set by the delivery itself");
    // Its value may be a secret, so don't quote it.
    if (!HEADER_VALUE.test(value)) problems.add(at, "isn't a valid header value", "invalid_format");
  }
}
