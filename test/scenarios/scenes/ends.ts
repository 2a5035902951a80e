import { expect } from "vitest";
import { idempotencyKey } from "../../support/moves.ts";
import { DAY, HOUR, MINUTE } from "../../support/submissions.ts";
import { COMPLETE } from "../intakes.ts";
import type { Scene } from "../stage.ts";

/** Repeated, too late, or cancelled. */
export const endScenes: Scene[] = [
  {
    name: "a call that is repeated with its key gets the same response, and is executed once",
    intakeId: "supplier",
    async play({ does, act, isRefused, comesBack, lookInto }) {
      const create = { fields: COMPLETE, idempotencyKey: idempotencyKey("start") };
      const made = await does("create", create);
      await comesBack();
      const again = await act("create", create);
      expect([again.replayed, again.body.submissionId]).toEqual([true, made.submissionId]);
      const set = { resumeToken: made.resumeToken, fields: { note: "once" }, idempotencyKey: idempotencyKey("write") };
      const written = await does("set", set);
      const rewritten = await act("set", set);
      expect([rewritten.replayed, rewritten.body.version]).toEqual([true, written.version]);
      const submit = { resumeToken: written.resumeToken, idempotencyKey: idempotencyKey("end") };
      const done = await does("submit", submit);
      await comesBack();
      const redone = await act("submit", submit);
      expect([redone.replayed, redone.body.state, redone.body.version]).toEqual([true, "finalized", done.version]);
      await isRefused("conflict", "create", { ...create, fields: { company: "Other" } });
      await lookInto(made.submissionId);
    },
  },
  {
    name: "an expired submission accepts no writes",
    intakeId: "supplier",
    async play({ server, does, isRefused, lookInto }) {
      const made = await does("create", { fields: COMPLETE, ttlMs: 2 * HOUR });
      server.clock.advance(HOUR + 30 * MINUTE);
      const warned = await does("status", { resumeToken: made.resumeToken });
      expect(warned.warning?.timeRemaining).toBe(30 * MINUTE);
      server.clock.advance(HOUR);
      const { resumeToken } = made;
      await isRefused("expired", "set", { resumeToken, fields: { note: "late" } });
      await isRefused("expired", "status", { resumeToken });
      await isRefused("expired", "submit", { resumeToken, idempotencyKey: idempotencyKey("late") });
      await lookInto(made.submissionId);
    },
  },
  {
    name: "a cancelled submission accepts no writes",
    intakeId: "supplier",
    async play({ server, does, isRefused, lookInto }) {
      const made = await does("create", { fields: { company: "Acme" } });
      const over = await does("cancel", { resumeToken: made.resumeToken, reason: "not needed" });
      expect([over.state, over.reason]).toEqual(["cancelled", "not needed"]);
      const { resumeToken } = made;
      await isRefused("cancelled", "set", { resumeToken, fields: { note: "late" } });
      await isRefused("cancelled", "submit", { resumeToken, idempotencyKey: idempotencyKey("late") });
      server.clock.advance(DAY);
      await isRefused("cancelled", "handoff", { resumeToken });
      await lookInto(made.submissionId);
    },
  },
  {
    name: "a token that was never issued opens nothing",
    intakeId: "supplier",
    async play({ isRefused }) {
      const resumeToken = `rtok_${"x".repeat(43)}`;
      await isRefused("token_invalid", "status", { resumeToken });
      await isRefused("token_invalid", "set", { resumeToken, fields: { company: "Acme" } });
      await isRefused("token_invalid", "cancel", { resumeToken });
    },
  },
];
