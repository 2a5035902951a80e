/** The URL schemes of each kind of destination. */
export const WEBHOOK_SCHEMES = ["http:", "https:"] as const;
export const QUEUE_SCHEMES = ["amqp:", "amqps:", "nats:", "tls:", "redis:", "rediss:"] as const;

/**
 * Headers that a definition can't set: those that describe a delivery, and those that belong to the connection or to
 * message framing, where a second value would make the request ambiguous (request smuggling).
 */
const RESERVED: ReadonlySet<string> = new Set([
  "webhook-id",
  "webhook-timestamp",
  "webhook-signature",
  "content-type",
  "user-agent",
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "te",
  "trailer",
  "upgrade",
  "expect",
]);

export const isReservedHeader = (name: string): boolean => {
  const lower = name.toLowerCase();
  return RESERVED.has(lower) || lower.startsWith("proxy-");
};
