import { expect } from "vitest";
import { inLink, openSession, visit } from "../../support/handoffs.ts";
import type { Loose } from "../../support/harness.ts";
import { idempotencyKey } from "../../support/moves.ts";
import { DAY, HUMAN } from "../../support/submissions.ts";
import { COMPLETE } from "../intakes.ts";
import type { Scene, Stage } from "../stage.ts";

/** Somebody else writes with the agent's token, so that it becomes stale. */
async function overtake({ server }: Stage, token: string, fields: Loose): Promise<Loose> {
  const reply = await server.call("PATCH", `/resume/${token}`, { body: { actor: HUMAN, fields } });
  if (reply.status !== 200) throw new Error(`not overtaken: ${JSON.stringify(reply.body)}`);
  return reply.body;
}

/** An agent and others on one submission. */
export const togetherScenes: Scene[] = [
  {
    name: "a write on a version that somebody else has changed is refused, and one more call succeeds",
    intakeId: "supplier",
    async play(stage) {
      const made = await stage.does("create", { fields: { company: "Acme" } });
      await overtake(stage, made.resumeToken, { company: "Acme GmbH" });
      const write = { fields: { company: "Acme AG" } };
      const refused = await stage.isRefused("token_conflict", "set", { resumeToken: made.resumeToken, ...write });
      expect(refused.error.current).toMatchObject({ version: 2, fields: { company: "Acme GmbH" } });
      const set = await stage.does("set", { resumeToken: refused.resumeToken, ...write });
      expect(set).toMatchObject({ version: 3, fields: { company: "Acme AG" } });
      await stage.lookInto(made.submissionId);
    },
  },
  {
    name: "writes of two callers to different fields are merged: neither loses anything",
    intakeId: "supplier",
    async play(stage) {
      const made = await stage.does("create", { fields: { company: "Acme" } });
      await overtake(stage, made.resumeToken, { contact: { email: "ada@example.com" } });
      const write = { fields: { country: "DE" } };
      const refused = await stage.isRefused("token_conflict", "set", { resumeToken: made.resumeToken, ...write });
      expect(refused.error.conflictDetails?.canAutoMerge).toBe(true);
      const set = await stage.does("set", { resumeToken: refused.resumeToken, ...write });
      expect(set.fields).toEqual(COMPLETE);
      await stage.lookInto(made.submissionId);
    },
  },
  {
    name: "where the current token is not disclosed, a stale token's refusal reveals nothing else",
    intakeId: "discreet",
    async play(stage) {
      const made = await stage.does("create", { fields: { company: "Acme" } });
      await overtake(stage, made.resumeToken, { country: "DE" });
      const write = { resumeToken: made.resumeToken, fields: { country: "FR" } };
      const refused = await stage.isRefused("token_conflict", "set", write);
      expect(JSON.stringify(refused)).not.toContain("rtok_");
      await stage.lookInto(made.submissionId);
    },
  },
  {
    name: "an agent hands over what only a human knows, comes back and submits",
    intakeId: "bank-account",
    async play(stage) {
      const { server, does, isRefused, comesBack, lookInto } = stage;
      const made = await does("create", { fields: { company: "Acme" } });
      await isRefused("invalid", "set", { resumeToken: made.resumeToken, fields: { iban: "DE02120300000000202051" } });
      const handoff = await does("handoff", { resumeToken: made.resumeToken, message: "Your IBAN, please" });
      server.clock.advance(DAY);
      const human = await visit(server, handoff, HUMAN);
      const { body } = await human.call("GET", "");
      expect((await human.fill({ iban: "DE02120300000000202051" }, body.version)).status).toBe(200);
      await comesBack();
      const submit = { resumeToken: handoff.resumeToken ?? made.resumeToken, idempotencyKey: idempotencyKey("early") };
      const { resumeToken } = await isRefused("token_conflict", "submit", submit);
      const found = await does("status", { resumeToken });
      expect(found.missingFields).toEqual([]);
      const done = await does("submit", { resumeToken, idempotencyKey: idempotencyKey("after-the-human") });
      expect(done.state).toBe("finalized");
      await lookInto(made.submissionId);
    },
  },
  {
    name: "a hand-off that was cancelled opens nothing",
    intakeId: "bank-account",
    async play({ server, does, lookInto }) {
      const made = await does("create", {});
      const handoff = await does("handoff", { resumeToken: made.resumeToken, kind: "session", expiresInMs: DAY });
      expect(inLink(handoff.url)).toMatch(/^sess_/);
      await does("cancel", { resumeToken: handoff.resumeToken ?? made.resumeToken, reason: "no need" });
      expect((await openSession(server, handoff)).body.error.type).toBe("cancelled");
      await lookInto(made.submissionId);
    },
  },
  {
    name: "what waits for a reviewer can't be changed, and is finalized once approved",
    intakeId: "checked",
    async play({ server, does, isRefused, lookInto }) {
      const reviewer = await server.makeKey({ roles: ["reviewer"], actor: { kind: "human", id: "rita" } });
      const made = await does("create", { fields: COMPLETE });
      const key = idempotencyKey("for-review");
      const waits = await does("submit", { resumeToken: made.resumeToken, idempotencyKey: key });
      expect(waits.state).toBe("needs_review");
      const { resumeToken = made.resumeToken } = waits;
      await isRefused("needs_approval", "set", { resumeToken, fields: { note: "wait" } });
      const path = `/submissions/${made.submissionId}/review`;
      expect((await server.call("POST", path, { key: reviewer, body: { decision: "approved" } })).status).toBe(200);
      const found = await does("status", { resumeToken });
      expect(found.state).toBe("finalized");
      await lookInto(made.submissionId);
    },
  },
];
