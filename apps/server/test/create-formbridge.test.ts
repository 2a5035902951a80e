import { afterEach, expect, it } from "vitest";
import { type Order, startOrders } from "../../../examples/embed.ts";
import { caller } from "../../../test/support/harness.ts";
import { created, submit } from "../../../test/support/moves.ts";
import { createFormBridge, type FormBridge } from "../src/index.ts";

const SETTINGS = {
  FORMBRIDGE_PORT: "0",
  FORMBRIDGE_DATABASE_URL: "memory:",
  FORMBRIDGE_LOG_LEVEL: "silent",
  FORMBRIDGE_DELIVERY_WAIT_MS: "20000",
};
const running: FormBridge[] = [];
afterEach(async () => {
  for (const formbridge of running.splice(0)) await formbridge.stop();
});

it("[RUNNING-EMBEDDED] a program serves its own intakes and gets submissions as calls of its function", async () => {
  const orders = new Map<string, Order>();
  let calls = 0;
  const formbridge = await startOrders(SETTINGS, async (id, order) => {
    calls += 1;
    orders.set(id, order);
  });
  running.push(formbridge);
  const api = { call: caller(formbridge.url) };
  const key = formbridge.adminKey ?? "";
  const made = await created(api, "order-callback", { key, body: { initialFields: { item: "lamp", amount: 2 } } });
  const { body } = await submit(api, made.resumeToken, "submit-order");
  expect([body.state, calls]).toEqual(["finalized", 1]);
  const record = await api.call("GET", `/submissions/${made.submissionId}`, { key });
  expect(orders.get(record.body.deliveryState.deliveryId)).toEqual({ item: "lamp", amount: 2 });
  const listed = await api.call("GET", "/intakes", { key });
  expect(listed.body.items.map(({ id }: { id: string }) => id)).toEqual(["order-callback"]);
});

it("[RUNNING-EMBEDDED] an invalid definition stops the start and names the location", async () => {
  const [definition] = [{ id: "Bad Id", version: "1", name: "x", schema: {}, destination: { kind: "store" } }];
  const started = createFormBridge({ settings: SETTINGS, intakes: [definition as never] });
  await expect(started).rejects.toThrow(/intakes\[0\] at id/);
});

it("[RUNNING-EMBEDDED] the environment is not read unless it is passed", async () => {
  process.env.FORMBRIDGE_HOST = "not a host";
  try {
    running.push(await createFormBridge({ settings: SETTINGS, intakes: [] }));
  } finally {
    Reflect.deleteProperty(process.env, "FORMBRIDGE_HOST");
  }
  expect(new URL(running[0]?.url ?? "").hostname).toBe("127.0.0.1");
});

const withCallback = (id: string, name: string) => ({
  id,
  version: "1",
  name: id,
  schema: { type: "object", properties: { item: { type: "string" } } },
  destination: { kind: "callback" as const, name },
});

it("[AUDIT-F21] a callback that this process does not have is refused at registration, by PUT and by the folder", async () => {
  const callbacks = { save: () => {} };
  const formbridge = await createFormBridge({ settings: SETTINGS, intakes: [withCallback("mine", "save")], callbacks });
  running.push(formbridge);
  const call = caller(formbridge.url);
  const put = (id: string, name: string) =>
    call("PUT", `/intakes/${id}`, { key: formbridge.adminKey ?? "", body: withCallback(id, name) });
  expect((await put("known", "save")).status).toBe(201);
  for (const name of ["lost", "toString"]) {
    const refused = await put("unknown", name);
    expect([refused.status, refused.body.error.type]).toEqual([422, "invalid"]);
    expect(refused.body.error.fields).toMatchObject([{ path: "destination.name" }]);
  }
  const started = createFormBridge({ settings: SETTINGS, intakes: [withCallback("mine", "save")] });
  await expect(started).rejects.toThrow(/intakes\[0\].*destination\.name/);
});
