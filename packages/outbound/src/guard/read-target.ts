import { isIP } from "node:net";
import { Refusal } from "../failure.ts";

/** Where a connection goes, in an unambiguous form. */
export interface Target {
  /** A name in lower case without a trailing dot, or an address without brackets. */
  host: string;
  port: number;
  isAddress: boolean;
}

const PORTS: Record<string, number> = {
  "http:": 80,
  "https:": 443,
  "amqp:": 5672,
  "amqps:": 5671,
  "nats:": 4222,
  "tls:": 4222,
  "redis:": 6379,
  "rediss:": 6379,
};

/**
 * URL parsing normalizes hosts (numeric spellings, percent-encoding, Unicode) only for http and https. So the host of
 * any other URL is parsed as if it were one of these.
 */
export function readTarget(url: URL): Target {
  const plain = URL.parse(`http://${url.hostname}`);
  const host = plain?.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "") ?? "";
  const port = url.port === "" ? PORTS[url.protocol] : Number(url.port);
  const isName = url.hostname !== "" && host.split(".").every((label) => label !== "");
  if (!isName || port === undefined) throw new Refusal("its URL names no host", "final");
  return { host, port, isAddress: isIP(host) !== 0 };
}
