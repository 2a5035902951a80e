import type { IntakeDefinition } from "@formbridge/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";

let server: TestServer;
let ids = 0;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const schema = {
  type: "object",
  properties: {
    name: { type: "string" },
    address: { type: "object", properties: { city: { type: "string" } } },
    items: { type: "array", items: { type: "object", properties: { amount: { type: "number" } } } },
  },
};

const put = (more: Loose): Promise<Reply> =>
  server.putIntake({ id: `shown-${++ids}`, schema, ...(more as Partial<IntakeDefinition>) });

const refusedAt = async (more: Loose): Promise<string[]> => {
  const reply = await put(more);
  expect([reply.status, reply.body.error?.type]).toEqual([422, "invalid"]);
  return reply.body.error.fields.map(({ path }: Loose) => path);
};

describe("what is shown of an intake", () => {
  it("[AUDIT-F21] [RUNNING-INTAKES-PRESENTATION] is stored and returned as it was registered", async () => {
    const definition = {
      humanProof: "code",
      sensitive: { visibleToAgents: true },
      uiHints: {
        steps: [{ id: "where", title: "Where", fields: ["address.city", "items.0.amount"] }],
        fieldHints: { "address.city": { label: "City" }, "items.0.amount": { help: "In francs." } },
      },
      translations: {
        "de-CH": {
          name: "Formular",
          description: "Bitte ausfüllen",
          fields: { "address.city": { label: "Ort" } },
          steps: { where: { title: "Wo" } },
        },
      },
      branding: { name: "Acme", logo: "/logo.svg", color: "#0a7d5a" },
      oai: { dc: { title: "name", coverage: "address.city" } },
    };
    const reply = await put(definition);
    expect(reply.status).toBe(201);
    const stored = await server.call("GET", `/intakes/shown-${ids}`);
    expect(stored.body.intake).toMatchObject(definition);
  });

  it.each<[string, Loose, string[]]>([
    [
      "a step with an unknown nested field",
      { uiHints: { steps: [{ id: "s", title: "S", fields: ["address.town"] }] } },
      ["uiHints.steps.0.fields.0"],
    ],
    ["a hint for an unknown field", { uiHints: { fieldHints: { nome: { label: "N" } } } }, ["uiHints.fieldHints.nome"]],
    [
      "a hint for an unknown nested field",
      { uiHints: { fieldHints: { "address.town": {} } } },
      ["uiHints.fieldHints.address.town"],
    ],
    [
      "a translation of an unknown field",
      { translations: { de: { fields: { nome: {} } } } },
      ["translations.de.fields.nome"],
    ],
    ["a translation of an unknown step", { translations: { de: { steps: { x: {} } } } }, ["translations.de.steps.x"]],
    ["a language that is none", { translations: { de_CH: {} } }, ["translations.de_CH"]],
    ["an unknown element", { oai: { dc: { titel: "name" } } }, ["oai.dc.titel"]],
    ["an element from an unknown field", { oai: { dc: { title: "nome" } } }, ["oai.dc.title"]],
    ["a color that is none", { branding: { color: "red; background: url(x)" } }, ["branding.color"]],
    ["a logo on another server", { branding: { logo: "https://x.test/a.png" } }, ["branding.logo"]],
    ["a logo over http", { branding: { logo: "http://x.test/a.png" } }, ["branding.logo"]],
    ["a logo that is a script", { branding: { logo: "javascript:alert(1)" } }, ["branding.logo"]],
    ["a logo that is a page", { branding: { logo: "data:text/html,x" } }, ["branding.logo"]],
    ["a logo of another host", { branding: { logo: "//x.test/a.png" } }, ["branding.logo"]],
    [
      "a logo that is too large",
      { branding: { logo: `data:image/png;base64,${"A".repeat(140_000)}` } },
      ["branding.logo"],
    ],
    ["a proof that there is not", { humanProof: "oath" }, ["humanProof"]],
  ])("[AUDIT-F21] [RUNNING-INTAKES-PRESENTATION] %s is refused with its place", async (_what, more, places) => {
    expect(await refusedAt(more)).toEqual(places);
  });

  it.each(["data:image/svg+xml;base64,PHN2Zy8+", "/static/logo.png"])(
    "[RUNNING-INTAKES-PRESENTATION] the logo %s is accepted",
    async (logo) => {
      expect((await put({ branding: { logo } })).status).toBe(201);
    },
  );
});

describe("gates that could never be passed", () => {
  it("[AUDIT-F16] a gate that names only agents is refused, unless it allows them", async () => {
    await server.makeKey({ roles: ["reviewer"], actor: { kind: "agent", id: "checker" } });
    const gate = { name: "check", reviewers: { ids: ["checker"] } };
    expect(await refusedAt({ approvalGates: [gate] })).toEqual(["approvalGates.0.reviewers.ids"]);
    const allowed = { name: "check", reviewers: { ids: ["checker"], allowAgents: true } };
    expect((await put({ approvalGates: [allowed] })).status).toBe(201);
    const withAnother = { name: "check", reviewers: { ids: ["checker", "somebody-new"] } };
    expect((await put({ approvalGates: [withAnother] })).status).toBe(201);
  });

  it("[AUDIT-F38] a gate that needs more approvals than it names people is refused", async () => {
    const gate = (requiredApprovals: number, reviewers: Loose, more: Loose = {}) => ({
      approvalGates: [{ name: "check", requiredApprovals, reviewers, ...more }],
    });
    expect(await refusedAt(gate(3, { ids: ["a"] }))).toEqual(["approvalGates.0.requiredApprovals"]);
    expect(await refusedAt(gate(2, { ids: ["a", "a"] }))).toEqual(["approvalGates.0.requiredApprovals"]);
    const mails = { ids: ["a"], emails: ["b@x.test", "B@x.test"] };
    expect(await refusedAt(gate(3, mails))).toEqual(["approvalGates.0.requiredApprovals"]);
    const escalating = { ids: ["a"], escalateTo: { ids: ["b"] } };
    for (const fits of [
      gate(2, mails),
      gate(3, { ids: ["a"], roles: ["reviewer"] }),
      gate(3, {}),
      gate(2, escalating, { escalateAfterMs: 1000 }),
    ]) {
      expect((await put(fits)).status).toBe(201);
    }
  });
});
