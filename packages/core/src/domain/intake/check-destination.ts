/*
 * What can be wrong with a destination, as far as the definition itself tells. Whether an address may be reached is not asked here: that
 * depends on the operator's settings and on what a name means at that moment, so it is asked with every delivery.
 */
import {
  type Destination,
  type IntakeDefinition,
  isReservedHeader,
  QUEUE_SCHEMES,
  WEBHOOK_SCHEMES,
} from "@formbridge/contract";
import type { Problems } from "./definition-problems.ts";

export function checkDestination(destination: Destination, problems: Problems): void {
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
  // Only the host of an http URL is read in full; deliveries read every host as if it stood in one.
  if (!URL.canParse(`http://${parsed.hostname}`)) problems.add(at, "must name a host", "invalid_format");
  if (/^rediss?:$/.test(parsed.protocol) && !/^\/?\d*$/.test(parsed.pathname)) {
    problems.add(at, "must have the number of a database as its path, or none", "invalid_format");
  }
}

/** Spaces and wildcards have a meaning of their own in the subjects of NATS. */
const SUBJECT = /^[^\s*>.]+(?:\.[^\s*>.]+)*$/;

function checkQueueName({ url = "", name }: Destination, problems: Problems): void {
  const at = ["destination", "name"];
  if (name === undefined || isEmpty(name)) {
    problems.add(at, "is required: the queue, the subject or the stream to publish to", "required");
  } else if (/^(?:nats|tls):/i.test(url) && !SUBJECT.test(name)) {
    problems.add(at, "must be a subject without spaces and wildcards", "invalid_format");
  }
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

function checkHeaders(headers: Destination["headers"] = {}, problems: Problems): void {
  for (const [name, value] of Object.entries(headers)) {
    const at = ["destination", "headers", name];
    if (!HEADER_NAME.test(name)) problems.add(at, "is not a name that a header can have", "invalid_format");
    else if (isReservedHeader(name)) problems.add(at, "is set by the delivery itself");
    // Its value may be a secret, so it is not quoted.
    if (!HEADER_VALUE.test(value)) problems.add(at, "has a value that a header can't have", "invalid_format");
  }
}
