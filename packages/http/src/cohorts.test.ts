import Fastify from "fastify";
import { expect, test } from "vitest";
import { createCohorts } from "./cohorts.ts";

/** A server whose handler records when each request starts and ends its operation. */
function serverThatNotes(operation: (name: string) => Promise<void> = async () => {}) {
  const notes: string[] = [];
  const app = Fastify();
  app.addHook("preHandler", createCohorts());
  app.get<{ Params: { name: string } }>("/:name", async ({ params: { name } }) => {
    notes.push(`begin ${name}`);
    await operation(name);
    notes.push(`end ${name}`);
    return name;
  });
  return { app, notes };
}

const call = async (app: ReturnType<typeof serverThatNotes>["app"], name: string) =>
  (await app.inject(`/${name}`)).body;

test("requests that arrive together begin together, each step for all before the next", async () => {
  const { app, notes } = serverThatNotes();
  const names = ["a", "b", "c"];
  expect(await Promise.all(names.map((name) => call(app, name)))).toEqual(names);
  expect(notes).toEqual(["begin a", "begin b", "begin c", "end a", "end b", "end c"]);
});

test("a request that comes alone is answered, and so is the one after it", async () => {
  const { app } = serverThatNotes();
  expect(await call(app, "a")).toBe("a");
  expect(await call(app, "b")).toBe("b");
});

test("one that fails or hangs does not delay the others", async () => {
  const { app } = serverThatNotes((name) =>
    name === "fails" ? Promise.reject(new Error("no")) : name === "hangs" ? new Promise(() => {}) : Promise.resolve(),
  );
  const hanging = call(app, "hangs");
  const [failed, good] = await Promise.all([app.inject("/fails"), call(app, "good")]);
  expect([failed.statusCode, good]).toEqual([500, "good"]);
  expect(await call(app, "later")).toBe("later");
  expect(await Promise.race([hanging, Promise.resolve("still hangs")])).toBe("still hangs");
});

test("hundreds are all answered, at most 16 beginning in one go", async () => {
  let underWay = 0;
  let most = 0;
  const { app } = serverThatNotes(async () => {
    underWay += 1;
    most = Math.max(most, underWay);
    await Promise.resolve();
    underWay -= 1;
  });
  const names = Array.from({ length: 300 }, (_, index) => `n${index}`);
  expect(await Promise.all(names.map((name) => call(app, name)))).toEqual(names);
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(16);
});
