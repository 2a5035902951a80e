import { expect, it } from "vitest";
import { parseRedisUrl } from "./address.ts";

it("one server, with what else a URL may say", () => {
  const local = { cluster: false, tls: false, hosts: [{ host: "localhost", port: 6379 }] };
  expect(parseRedisUrl("redis://localhost")).toEqual(local);
  expect(parseRedisUrl("redis://localhost/")).toEqual(local);
  expect(parseRedisUrl("redis://localhost:6379/2")).toEqual({ ...local, database: 2 });
  expect(parseRedisUrl("rediss://me:p%40ss:w@rd@[::1]:7000")).toEqual({
    cluster: false,
    tls: true,
    hosts: [{ host: "::1", port: 7000 }],
    username: "me",
    password: "p@ss:w@rd",
  });
  expect(parseRedisUrl("redis://:secret@localhost")).toEqual({ ...local, password: "secret" });
});

it("a cluster, by some of its servers", () => {
  expect(parseRedisUrl("redis-cluster://:secret@one:7000,two:7001,three")).toEqual({
    cluster: true,
    tls: false,
    hosts: [
      { host: "one", port: 7000 },
      { host: "two", port: 7001 },
      { host: "three", port: 6379 },
    ],
    password: "secret",
  });
  expect(parseRedisUrl("rediss-cluster://one/0")).toMatchObject({ cluster: true, tls: true });
});

it.each([
  "",
  "localhost",
  "http://localhost",
  "redis://",
  "redis://one,two",
  "redis://local host",
  "redis://localhost:port",
  "redis://localhost/name",
  "redis://localhost?x=1",
  "redis://%zz@localhost",
  "redis-cluster://one/3",
  "redis-cluster://one,,two",
])("%j is none", (url) => {
  expect(parseRedisUrl(url)).toBeUndefined();
});
