import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { handOff, visit } from "../support/handoffs.ts";
import { minimalIntake, startTestServer, type TestServer } from "../support/harness.ts";
import { create } from "../support/submissions.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const shownAs = (version: string) => ({
  id: "shown",
  version,
  name: `Shown ${version}`,
  description: "What it is for",
  uiHints: { fieldHints: { name: { label: "Your name" } } },
  translations: { de: { name: "Gezeigt" } },
  branding: { name: "Acme", color: "#0a7d5a" },
  destination: { kind: "webhook" as const, url: "https://receiver.example.com/hook", secret: "not for people" },
});

describe("what a form needs to render a submission", () => {
  it("[HANDOFF-INTAKE] is returned as it was when the submission was created, without the destination", async () => {
    await server.putIntake(shownAs("1"));
    const { resumeToken } = await create(server, "shown");
    await server.putIntake(shownAs("2"));
    const reply = await server.call("GET", `/resume/${resumeToken}/intake`);
    expect(reply.status).toBe(200);
    const { destination: _destination, ...shown } = shownAs("1");
    expect(reply.body.intake).toEqual({ ...shown, schema: minimalIntake("shown").schema });
    expect(JSON.stringify(reply.body)).not.toMatch(/receiver|not for people/);
  });

  it("[HANDOFF-INTAKE] tells a person in a session whose session it is, and the message they got", async () => {
    await server.putIntake({ id: "plain" });
    const { submissionId, resumeToken } = await create(server, "plain");
    const from = { kind: "agent", id: "closer", name: "Closing assistant" };
    const handoff = await handOff(server, resumeToken, { message: "Please add your name", actor: from });
    const visitor = await visit(server, { submissionId, ...handoff }, { kind: "human", id: "ada" });
    const { status, body } = await visitor.call("GET", "/intake");
    expect(status).toBe(200);
    expect(body.session).toMatchObject({ handoffId: handoff.handoffId, message: "Please add your name" });
    expect(body.session.from).toMatchObject(from);
    expect(body.session.actor).toMatchObject({ kind: "human", id: "ada" });
    expect(body.resumeToken).toBeUndefined();
  });

  it("[HANDOFF-INTAKE] is not returned to anybody else", async () => {
    const { submissionId } = await create(server, "plain");
    expect((await server.call("GET", `/submissions/${submissionId}/intake`)).status).toBe(401);
    const stranger = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "stranger" } });
    expect((await server.call("GET", `/submissions/${submissionId}/intake`, { key: stranger })).status).toBe(404);
  });
});
