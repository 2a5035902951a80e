import { type Change, handoffsIn, reviewLinksIn, StoreDown } from "@formbridge/core";
import { describe, expect, it } from "vitest";
import { creation, HOUR, INTAKE, keyWrite, newHandoff, newReviewLink, TENANT, update } from "./fixtures.ts";
import { type OpenBackend, PARTS, type Subject, useBackend } from "./harness.ts";

const STREAMS = ["submission", "token", "idempotency"] as const;

/** A change is written completely or not at all, whichever part of it fails. */
export function describeAtomicity(open: OpenBackend): void {
  describe("atomicity", () => {
    const subject = useBackend(open);
    it.for(PARTS)(
      "a change whose %s can't be written leaves nothing, and can be committed later",
      async (part, test) => {
        const { refuseWrites, whyNoRefusal } = subject();
        if (refuseWrites === undefined) return test.skip(whyNoRefusal);
        await leavesNothing(subject(), () => refuseWrites(part));
      },
    );
  });
}

/** A change with every part, following `before`. */
function wholeChange(before: Change, at: number): Change {
  const key = keyWrite({ expiresAt: at + HOUR });
  const handoff = newHandoff(before, { at, opened: 1 });
  return update(before, at, {
    key,
    side: [
      { kind: "handoff", handoff },
      { kind: "review_link", link: newReviewLink(before, { at }) },
    ],
    jobs: [{ key: "job", kind: "deliver", runAt: at }],
  });
}

async function leavesNothing(subject: Subject, refuse: () => Promise<() => Promise<void>>): Promise<void> {
  const { store, clock } = subject;
  const first = creation({ at: clock.now() });
  await store.commit(first);
  const change = wholeChange(first, clock.now());
  const before = await everythingOf(subject, change);
  const mend = await refuse();
  const refused = await store.commit(change).catch((error: unknown) => error);
  await mend();
  expect(refused).toBeInstanceOf(StoreDown);
  expect(refused).toMatchObject({ outcome: "not_applied" });
  expect(await everythingOf(subject, change)).toEqual(before);
  expect(await store.commit(change)).toMatchObject({ kind: "committed" });
  expect(await everythingOf(subject, change)).toMatchObject({
    loaded: { submission: { submission: { revision: 2 } } },
    token: { version: 2 },
    record: { fingerprint: change.key?.fingerprint },
    session: { handoff: handoffsIn(change.side)[0] },
    link: { link: reviewLinksIn(change.side)[0] },
    jobs: 1,
  });
}

/** Everything that the ports return about the change. */
async function everythingOf(subject: Subject, { row, token, key, side }: Change) {
  const { store, tokens, events, idempotency, handoffs, jobs } = subject;
  const { submissionId } = row.submission;
  const scope = key && { ...key.ref, tenant: TENANT, intakeId: INTAKE };
  return {
    loaded: await store.load({ by: { id: submissionId, tenant: TENANT } }),
    token: await tokens.find(token?.hash ?? ""),
    tokens: await tokens.query({ submissionId }, { limit: 10 }),
    events: await events.read({ tenant: TENANT, submissionId, streams: STREAMS }, 100),
    record: scope && (await idempotency.find(scope)),
    session: await store.load({ by: { session: handoffsIn(side)[0]?.link ?? "" } }),
    link: await store.load({ by: { reviewLink: reviewLinksIn(side)[0]?.hash ?? "" } }),
    handoffs: await handoffs.ofSubmission(submissionId),
    jobs: await jobs.count(),
  };
}
