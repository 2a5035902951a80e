import { firstBrokenLink } from "@formbridge/core";
import { describe, expect, it } from "vitest";
import { creation, HOUR, keyWrite, newApiKey, newIntake, TENANT, update } from "./fixtures.ts";
import { type OpenBackend, type Subject, useBackend } from "./harness.ts";

const STREAMS = ["submission", "token", "idempotency"] as const;

/**
 * What was committed is still there after a restart. A backend that can't be reopened is skipped, with its reason in
 * the report.
 */
export function describeDurability(open: OpenBackend): void {
  describe("durability", () => {
    const subject = useBackend(open);
    it("keeps submission, tokens, record, events and jobs", async (test) => {
      const { reopen } = subject();
      if (reopen === undefined) return test.skip(await reasonOf(open));
      await keepsCommits(subject(), reopen);
    });
    it("keeps intakes and keys", async (test) => {
      const { intakes, keys, reopen } = subject();
      if (reopen === undefined) return test.skip(await reasonOf(open));
      const [intake, key, revoked] = [newIntake("survey"), newApiKey(), newApiKey()];
      await intakes.put(intake, undefined);
      for (const one of [key, revoked]) await keys.add(one);
      await keys.revoke({ tenant: TENANT, keyId: revoked.keyId });
      const again = await reopen();
      expect(await again.intakes.get("survey")).toMatchObject(intake);
      expect(await again.keys.find(key.hash)).toEqual(key);
      expect(await again.keys.find(revoked.hash)).toBeUndefined();
    });
  });
}

async function reasonOf(open: OpenBackend): Promise<string> {
  const opened = await open(() => 0);
  await opened.backend.close();
  return "whyNot" in opened ? opened.whyNot : "";
}

async function keepsCommits({ store, clock }: Subject, reopen: NonNullable<Subject["reopen"]>): Promise<void> {
  const key = keyWrite({ expiresAt: clock.now() + HOUR });
  const first = creation({ at: clock.now() }, { key, jobs: [{ key: "job", kind: "deliver", runAt: clock.now() }] });
  const second = update(first, clock.now());
  for (const change of [first, second]) expect((await store.commit(change)).kind).toBe("committed");

  const again = await reopen();
  const by = { token: first.token?.hash ?? "" };
  const loaded = await again.store.load({ by, key: key.ref });
  expect(loaded.submission).toEqual({ ...second.row, sealedToken: second.token?.sealed });
  expect(loaded.presented).toMatchObject({ version: 1, rotatedAt: clock.now() });
  expect(loaded.record).toMatchObject({ fingerprint: key.fingerprint });
  expect(await again.jobs.claim({ limit: 10, leaseMs: 1, perLane: 10, busy: new Map() })).toMatchObject([
    { key: "job", attempt: 1 },
  ]);

  const before = (await again.events.feed({ tenant: TENANT, streams: STREAMS }, { after: 0, limit: 100 })).events;
  expect((await again.store.commit(update(second, clock.now()))).kind).toBe("committed");
  const { submissionId } = first.row.submission;
  const history = (await again.events.read({ tenant: TENANT, submissionId, streams: STREAMS }, 100)) ?? [];
  expect(history).toHaveLength(6);
  expect(firstBrokenLink(history)).toBeUndefined();
  const after = before.at(-1)?.position ?? 0;
  expect((await again.events.feed({ tenant: TENANT, streams: STREAMS }, { after, limit: 100 })).events).toHaveLength(2);
}
