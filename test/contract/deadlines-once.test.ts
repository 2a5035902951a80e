import { afterEach, expect, it } from "vitest";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { created, eventsOf, read, setFields } from "../support/moves.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
const TTL = 100 * MINUTE;
let server: TestServer;
afterEach(() => server.stop());

const sweep = () => server.server.core.operations.sweep();
const told = (id: string, type: string): Promise<Loose[]> => eventsOf(server, id, `types=${type}`);

async function start(store?: "memory"): Promise<Loose> {
  server = await startTestServer(store === undefined ? {} : { store });
  await server.putIntake({ id: "forms", retention: { deleteAfterMs: 10 * DAY } });
  return await created(server, "forms", { body: { ttlMs: TTL, initialFields: { name: "Ada" } } });
}

const stores = [undefined, "memory"] as const;

it.each(stores)(
  "[RETENTION-DEADLINES-ONCE] minute by minute, each deadline takes effect once, at its time (%s)",
  async (store) => {
    const { submissionId } = await start(store);
    const began = server.clock.now();
    const seen: Record<string, number[]> = {};
    for (let minute = 0; minute < 120; minute++) {
      const [one, other] = await Promise.all([sweep(), sweep()]);
      for (const what of ["warned", "expired"] as const) {
        if (one[what] + other[what] > 0) seen[what] = [...(seen[what] ?? []), (server.clock.now() - began) / MINUTE];
      }
      server.clock.advance(MINUTE);
    }
    // A warning at 80 %; an end at 100 % plus the tolerated clock skew.
    expect(seen).toEqual({ warned: [81], expired: [101] });
    expect(await told(submissionId, "submission.ttl_warning")).toHaveLength(1);
    expect(await told(submissionId, "submission.expired")).toHaveLength(1);
  },
);

it.each(stores)(
  "[RETENTION-DEADLINES-ONCE] deadlines missed while no worker ran are made up for, with their own times (%s)",
  async (store) => {
    const { submissionId } = await start(store);
    const expiredAt = new Date(server.clock.now() + TTL).toISOString();
    server.clock.advance(TTL + 10 * DAY - 1);
    expect(await sweep()).toMatchObject({ expired: 1, warned: 0, erased: 0 });
    expect((await read(server, submissionId, server.adminKey)).body).toMatchObject({ state: "expired", expiredAt });
    expect((await told(submissionId, "submission.expired"))[0].payload).toMatchObject({ expiredAt });
    // It was kept from its end on, not from when somebody noticed.
    server.clock.advance(2);
    expect(await sweep()).toMatchObject({ expired: 0, erased: 1 });
    for (let round = 0; round < 3; round++) expect(await sweep()).toMatchObject({ expired: 0, warned: 0, erased: 0 });
    expect(await told(submissionId, "submission.expired")).toHaveLength(1);
    expect(await told(submissionId, "submission.erased")).toHaveLength(1);
  },
);

it("[RETENTION-DEADLINES-ONCE] a warning that was missed is still sent, as long as there is time to react", async () => {
  const { submissionId, resumeToken } = await start();
  server.clock.advance(99 * MINUTE);
  expect(await sweep()).toMatchObject({ warned: 1, expired: 0 });
  const [warning] = await told(submissionId, "submission.ttl_warning");
  expect(warning.payload).toMatchObject({ remainingMs: MINUTE });
  expect((await setFields(server, resumeToken, { name: "Grace" })).status).toBe(200);
  expect(await sweep()).toMatchObject({ warned: 0, expired: 0 });
});
