import type { Actor } from "@formbridge/contract";
import { describe, expect, it } from "vitest";
import { given } from "../../../test/given.ts";
import { decideCreateHandoff } from "../decide/create-handoff.ts";
import type { Decision } from "../decide/decision.ts";
import { decideFailedCode, decideOpenSession } from "../decide/open-session.ts";
import { decideRevokeHandoff } from "../decide/revoke-handoff.ts";
import { DEFAULT_POLICY } from "../policy.ts";
import type { Handoff } from "./handoff.ts";
import { actorOfSession, sessionStatusOf, statusOf, withSession } from "./sessions.ts";

const JANE: Actor = { kind: "human", id: "jane" };
const NOW = Date.parse("2026-03-01T12:00:00.000Z");
const clock = (ms = 0) => ({ now: NOW + ms, policy: DEFAULT_POLICY });
const { sessionTtlMs, clockSkewMs, qrTtlMs, codeTries } = DEFAULT_POLICY;

const handoffIn = ({ side }: Decision): Handoff => {
  const [row] = side ?? [];
  if (row?.kind !== "handoff") throw new Error("no hand-off was written");
  return row.handoff;
};

/** A submission with a hand-off. */
function handedOver(command: Partial<Parameters<typeof decideCreateHandoff>[1]> = {}) {
  const scene = given({}).when((submission, context) =>
    decideCreateHandoff(
      submission,
      { handoffId: "hof_1", kind: "session", link: "l", ...command },
      { ...context, others: [] },
    ),
  );
  return { scene, submission: scene.submission, handoff: handoffIn(scene.decision) };
}

describe("a hand-off", () => {
  it("given a submission, when it is handed over, then a link is recorded and neither version nor token changes", () => {
    const { scene, submission, handoff } = handedOver();
    expect(scene.events).toEqual(["handoff.link_issued"]);
    expect(submission.version).toBe(1);
    expect(handoff).toMatchObject({ expiresAt: NOW + sessionTtlMs, epoch: 1, link: "l", sessions: [] });
  });

  it("is open, then expired after its time and the tolerance", () => {
    const { submission, handoff } = handedOver({ kind: "qr" });
    expect(statusOf(handoff, submission, clock(qrTtlMs + clockSkewMs - 1))).toBe("open");
    expect(statusOf(handoff, submission, clock(qrTtlMs + clockSkewMs))).toBe("expired");
  });

  it("given others that are open, when the limit is reached, then it is refused", () => {
    const { scene, handoff } = handedOver();
    const others = Array.from({ length: 20 }, () => handoff);
    const full = scene.when((submission, context) =>
      decideCreateHandoff(submission, { handoffId: "hof_2", kind: "session" }, { ...context, others }),
    );
    expect(full.decision.refusal?.type).toBe("conflict");
    const spare = others.map((other, index) => (index === 0 ? { ...other, revokedAt: NOW } : other));
    const roomy = scene.when((submission, context) =>
      decideCreateHandoff(submission, { handoffId: "hof_2", kind: "session" }, { ...context, others: spare }),
    );
    expect(roomy.events).toEqual(["handoff.link_issued"]);
  });

  it("given it was revoked, when it is revoked again, then the first time stays", () => {
    const { scene, handoff } = handedOver();
    const revoke = (one: Handoff) =>
      handoffIn(
        scene.when((submission, context) =>
          decideRevokeHandoff(submission, { handoffId: "hof_1" }, { ...context, others: [one] }),
        ).decision,
      );
    expect(revoke(handoff).revokedAt).toBe(NOW);
    expect(revoke({ ...handoff, revokedAt: 7 }).revokedAt).toBe(7);
  });
});

describe("a session", () => {
  it("given an open link, when it is opened, then it has a session and the history stays", () => {
    const { scene, handoff } = handedOver();
    const opened = scene.when((submission, context) =>
      decideOpenSession(submission, { handoff, actor: JANE, hash: "h" }, context),
    );
    expect(opened.events).toEqual([]);
    expect(handoffIn(opened.decision).sessions).toEqual([
      { hash: "h", actor: JANE, openedAt: NOW, expiresAt: handoff.expiresAt },
    ]);
  });

  it("is valid until its expiry, its hand-off's revocation, or the next epoch of tokens", () => {
    const { submission, handoff } = handedOver();
    const { handoff: after, session } = withSession(handoff, { hash: "h", actor: JANE }, { ...clock(), submission });
    const stands = (one: Handoff, epoch = 1, ms = 0) =>
      sessionStatusOf({ handoff: one, session }, { ...submission, epoch }, clock(ms));
    expect(stands(after)).toBe("current");
    expect(stands(after, 1, sessionTtlMs + clockSkewMs)).toBe("elapsed");
    expect(stands({ ...after, revokedAt: NOW })).toBe("revoked");
    expect(stands(after, 2)).toBe("revoked");
  });

  it("the newest twenty of a link count", () => {
    const { submission, handoff } = handedOver();
    let latest = handoff;
    for (let count = 0; count < 25; count++) {
      latest = withSession(latest, { hash: `h${count}`, actor: JANE }, { ...clock(), submission }).handoff;
    }
    expect(latest.sessions.map(({ hash }) => hash)).toEqual(Array.from({ length: 20 }, (_, index) => `h${index + 5}`));
  });

  it("a code opens one, and allows a limited number of mistakes", () => {
    const { submission, handoff } = handedOver({ kind: "magic_link", recipientEmail: "jane@example.com" });
    const used = withSession(handoff, { hash: "h", actor: JANE }, { ...clock(), submission });
    expect(statusOf(used.handoff, submission, clock())).toBe("spent");
    expect(used.session.expiresAt).toBe(NOW + sessionTtlMs);
    let tried = handoff;
    for (let count = 1; count <= codeTries; count++) {
      expect(statusOf(tried, submission, clock())).toBe("open");
      tried = handoffIn(decideFailedCode([tried]));
    }
    expect(statusOf(tried, submission, clock())).toBe("spent");
    expect(handoffIn(decideFailedCode([tried])).code?.triesLeft).toBe(0);
  });

  it("acts as one of the allowed actors", () => {
    const bot: Actor = { kind: "agent", id: "bot" };
    const { handoff } = handedOver();
    expect(actorOfSession(handoff, undefined, "hof_1")).toEqual({ kind: "human", id: "hof_1" });
    expect(actorOfSession(handoff, JANE, "hof_1")).toEqual({ ...JANE, declared: true });
    expect(() => actorOfSession(handoff, bot, "hof_1")).toThrow("for humans");
    const few = { ...handoff, allowedActors: [JANE, bot] };
    expect(actorOfSession(few, bot, "")).toEqual(bot);
    expect(() => actorOfSession(few, undefined, "")).toThrow("several");
    expect(() => actorOfSession(few, { kind: "human", id: "eve" }, "")).toThrow("somebody else");
    const named = { ...handoff, allowedActors: [{ ...JANE, name: "Jane Roe" }] };
    expect(actorOfSession(named, { ...JANE, name: "Not Jane" }, "")).toEqual({ ...JANE, name: "Jane Roe" });
    expect(actorOfSession(named, undefined, "")).toEqual({ ...JANE, name: "Jane Roe" });
  });
});
