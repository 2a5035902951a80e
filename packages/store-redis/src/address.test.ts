import { expect, it } from "vitest";
import { parseRedisUrl } from "./address.ts";

it("one server, with other parts of a URL", () => {
  const local = { kind: "server", tls: false, hosts: [{ host: "localhost", port: 6379 }] };
  expect(parseRedisUrl("redis://localhost")).toEqual(local);
  expect(parseRedisUrl("redis://localhost/")).toEqual(local);
  expect(parseRedisUrl("redis://localhost:6379/2")).toEqual({ ...local, database: 2 });
  expect(parseRedisUrl("rediss://me:p%40ss:w@rd@[::1]:7000")).toEqual({
    kind: "server",
    tls: true,
    hosts: [{ host: "::1", port: 7000 }],
    username: "me",
    password: "p@ss:w@rd",
  });
  expect(parseRedisUrl("redis://:secret@localhost")).toEqual({ ...local, password: "secret" });
});

it("a cluster, by some of its servers", () => {
  expect(parseRedisUrl("redis-cluster://:secret@one:7000,two:7001,three")).toEqual({
    kind: "cluster",
    tls: false,
    hosts: [
      { host: "one", port: 7000 },
      { host: "two", port: 7001 },
      { host: "three", port: 6379 },
    ],
    password: "secret",
  });
  expect(parseRedisUrl("rediss-cluster://one/0")).toMatchObject({ kind: "cluster", tls: true });
});

it("sentinels, and the name of the primary that they watch", () => {
  expect(parseRedisUrl("redis-sentinel://:secret@one,two:5000/main")).toEqual({
    kind: "sentinel",
    tls: false,
    hosts: [
      { host: "one", port: 26379 },
      { host: "two", port: 5000 },
    ],
    primary: "main",
    password: "secret",
  });
  expect(parseRedisUrl("rediss-sentinel://one/main/2")).toMatchObject({ kind: "sentinel", tls: true, database: 2 });
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
  "redis-sentinel://one",
  "redis-sentinel://one/",
  "redis-sentinel://one/main/two",
  "redis-sentinel://one/ma in",
  "redis-proxy://one",
])("%j is refused", (url) => {
  expect(parseRedisUrl(url)).toBeUndefined();
});
