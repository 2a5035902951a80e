import type { PlantedBug } from "../planted-bug.ts";

const LOCK = "packages/store-redis/src/lock.ts";
const LOCK_TEST = "packages/store-redis/test/lock.test.ts";
const CONFORMANCE = "packages/store-redis/test/conformance.test.ts";
const FAULTS = "packages/store-redis/test/faults.test.ts";

export const REDIS: readonly PlantedBug[] = [
  {
    name: "redis-lock-released-by-anybody",
    breaks: "An owner that was paused releases its successor's lock.",
    file: LOCK,
    edits: [
      {
        find: "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end\nredis.call('DEL', KEYS[1])",
        replace: "redis.call('DEL', KEYS[1])",
      },
    ],
    caughtBy: [LOCK_TEST],
  },
  {
    name: "redis-lock-extended-by-anybody",
    breaks: "An owner that was paused extends its successor's lock.",
    file: LOCK,
    edits: [
      {
        find: "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end\nreturn redis.call('PEXPIRE'",
        replace: "return redis.call('PEXPIRE'",
      },
    ],
    caughtBy: [LOCK_TEST],
  },
  {
    name: "redis-lock-waiters-not-told",
    breaks: "Waiters aren't notified when a lock is released.",
    file: LOCK,
    edits: [
      {
        find: "\nif redis.call('DEL', KEYS[2]) == 1 then redis.call('PUBLISH', ARGV[2], ARGV[3]) end",
        replace: "",
      },
    ],
    caughtBy: [LOCK_TEST],
  },
  {
    name: "redis-stale-token-believed",
    breaks: "A token that Redis reports as current is trusted, although the database has a later one.",
    file: "packages/store-redis/src/store.ts",
    edits: [
      {
        find: "return agrees ? { ...loaded, presented } : fromTruth(query);",
        replace: "return { ...loaded, presented };",
      },
    ],
    caughtBy: [FAULTS],
  },
  {
    name: "redis-told-of-refused-change",
    breaks: "The token of a refused change is cached in Redis.",
    file: "packages/store-redis/src/store.ts",
    edits: [
      {
        find: `    if (committed.kind !== "committed") return committed;\n`,
        replace: `    if (committed.kind === "key_taken") return committed;\n`,
      },
    ],
    caughtBy: [CONFORMANCE],
  },
  {
    name: "redis-lock-of-the-dead-waited-for",
    breaks: "A retry waits for the lock of an instance that died, although the record is in the database.",
    file: LOCK,
    edits: [{ find: "        if (await isPointless()) return async () => {};\n", replace: "" }],
    caughtBy: [LOCK_TEST],
  },
  {
    name: "redis-readers-not-told-of-gap",
    breaks: "Readers are not woken for what was written while the connection to Redis was down.",
    file: "packages/store-redis/src/wakeups.ts",
    edits: [
      {
        find: "for (const submissionId of [...subscribed.keys()]) local.notify(submissionId);",
        replace: "",
      },
    ],
    caughtBy: ["packages/store-redis/test/fan-out.test.ts"],
  },
  {
    name: "redis-sentinel-listened-to",
    breaks: "The listener connects to a sentinel, which sends no notifications, instead of to the primary.",
    file: "packages/store-redis/src/listener.ts",
    edits: [
      {
        find: '    if (address.kind === "sentinel") return connectPrimary(driver, address);\n',
        replace: "",
      },
    ],
    caughtBy: ["packages/store-redis/test/sentinel.test.ts"],
  },
];
