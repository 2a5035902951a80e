/** Where each kind of destination may be, by the scheme of its URL. */
export const WEBHOOK_SCHEMES = ["http:", "https:"] as const;
export const QUEUE_SCHEMES = ["amqp:", "amqps:", "nats:", "tls:", "redis:", "rediss:"] as const;

/**
 * Headers that a definition can't set: those that say what a delivery is, and those that belong to the connection or to the
 * framing of a message, where a second opinion would let a request be read in two ways.
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
