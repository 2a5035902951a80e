import type { DestinationInput } from "@formbridge/contract";
import { describe, expect, it } from "vitest";
import { checkDestination } from "./check-destination.ts";
import { Problems } from "./definition-problems.ts";

function problemsOf(destination: DestinationInput): string[] {
  const problems = new Problems();
  checkDestination(destination, problems);
  return problems.list.map(({ path }) => path);
}

const hook = { kind: "webhook", url: "https://example.com/hook" } as const;

describe("[COURIER-DESTINATION-CHECKED] a destination", () => {
  it.each<DestinationInput>([
    { kind: "store" },
    hook,
    { kind: "webhook", url: "http://127.0.0.1:8080/in?key=1", headers: { Authorization: "Bearer ä", "x-team": "" } },
    { kind: "webhook", url: "https://user:password@example.com" },
    { kind: "queue", url: "amqp://user:password@rabbit:5672/vhost?exchange=in", name: "any name" },
    { kind: "queue", url: "amqps://rabbit", name: "orders" },
    { kind: "queue", url: "nats://nats:4222", name: "orders.new" },
    { kind: "queue", url: "tls://[2606:4700::1]:4222", name: "orders" },
    { kind: "queue", url: "redis://:password@redis/2", name: "orders:new *" },
    { kind: "queue", url: "rediss://redis", name: "orders" },
    { kind: "callback", name: "save" },
  ])("[COURIER-DESTINATION-CHECKED] that can be used is accepted: %j", (destination) => {
    expect(problemsOf(destination)).toEqual([]);
  });

  it.each<[DestinationInput, string[]]>([
    [{ kind: "webhook" }, ["destination.url"]],
    [{ kind: "webhook", url: "" }, ["destination.url"]],
    [{ kind: "webhook", url: "example.com" }, ["destination.url"]],
    [{ kind: "webhook", url: "ftp://example.com" }, ["destination.url"]],
    [{ kind: "webhook", url: "https://exa mple.com" }, ["destination.url"]],
    [{ kind: "webhook", url: "http://[fe80::1%25eth0]/" }, ["destination.url"]],
    [{ kind: "queue" }, ["destination.url", "destination.name"]],
    [{ kind: "queue", url: "amqp:rabbit", name: "q" }, ["destination.url"]],
    [{ kind: "queue", url: "amqp:///vhost", name: "q" }, ["destination.url"]],
    [{ kind: "queue", url: "redis://1.2.3.4.5", name: "q" }, ["destination.url"]],
    [{ kind: "queue", url: "nats://one:4222,two:4222", name: "q" }, ["destination.url"]],
    [{ kind: "queue", url: "https://example.com", name: "q" }, ["destination.url"]],
    [{ kind: "queue", url: "redis://redis/orders", name: "q" }, ["destination.url"]],
    [{ kind: "queue", url: "redis://redis", name: "" }, ["destination.name"]],
    [{ kind: "queue", url: "nats://nats", name: "orders.*" }, ["destination.name"]],
    [{ kind: "queue", url: "tls://nats", name: "orders.>" }, ["destination.name"]],
    [{ kind: "queue", url: "NATS://nats", name: "two words" }, ["destination.name"]],
    [{ kind: "queue", url: "nats://nats", name: "orders." }, ["destination.name"]],
    [{ kind: "callback" }, ["destination.name"]],
    [{ kind: "callback", name: "" }, ["destination.name"]],
    [{ ...hook, headers: { "bad name": "x" } }, ["destination.headers.bad name"]],
    [{ ...hook, headers: { "": "x" } }, ["destination.headers."]],
    [{ ...hook, headers: { "x-a": "one\r\nx-b: two" } }, ["destination.headers.x-a"]],
    [{ ...hook, headers: { "x-a": "☂" } }, ["destination.headers.x-a"]],
    [
      { ...hook, headers: { Host: "x", "CONTENT-LENGTH": "1" } },
      ["destination.headers.Host", "destination.headers.CONTENT-LENGTH"],
    ],
    [{ ...hook, headers: { "webhook-signature": "x" } }, ["destination.headers.webhook-signature"]],
    [{ ...hook, headers: { "Proxy-Connection": "x" } }, ["destination.headers.Proxy-Connection"]],
  ])("[COURIER-DESTINATION-CHECKED] that can't is refused with the place named: %j", (destination, paths) => {
    expect(problemsOf(destination)).toEqual(paths);
  });

  it("is not refused for its address: that is checked on delivery", () => {
    expect(problemsOf({ kind: "webhook", url: "http://169.254.169.254/" })).toEqual([]);
  });
});
