import type { IntakeDefinition } from "@formbridge/contract";
import type { TestServer } from "../support/harness.ts";

/** Something of everything: plain and nested values, a list, a human-only field, a hidden one, a file. */
const schema: IntakeDefinition["schema"] = {
  type: "object",
  additionalProperties: false,
  required: ["company", "country", "contact"],
  properties: {
    company: { type: "string", title: "Company", description: "As in the register.", minLength: 1, maxLength: 200 },
    country: { type: "string", enum: ["DE", "FR", "NL"] },
    employees: { type: "integer", minimum: 0 },
    contact: {
      type: "object",
      required: ["email"],
      properties: { name: { type: "string" }, email: { type: "string", format: "email" } },
    },
    sites: { type: "array", items: { type: "object", properties: { city: { type: "string" } } } },
    note: { type: "string" },
    secret: { type: "string", "x-sensitive": true },
  },
};

const withHuman: IntakeDefinition["schema"] = {
  ...schema,
  required: ["company", "iban"],
  properties: {
    ...(schema.properties as object),
    iban: { type: "string", minLength: 15, "x-fill": "human", "x-sensitive": true },
  },
};

const withFile: IntakeDefinition["schema"] = {
  ...schema,
  required: ["company"],
  properties: {
    ...(schema.properties as object),
    certificate: { type: "object", "x-file": { accept: ["application/pdf"], maxBytes: 100_000 } },
  },
};

export const COMPLETE = { company: "Acme", country: "DE", contact: { email: "ada@example.com" } };

/** The intakes of all scenes. Few enough that each has its own tools. */
export async function putIntakes(server: TestServer): Promise<void> {
  const intakes: (Partial<IntakeDefinition> & { id: string })[] = [
    { id: "supplier", schema },
    { id: "bank-account", schema: withHuman },
    { id: "certified", schema: withFile },
    { id: "checked", schema, approvalGates: [{ name: "check", reviewers: { ids: ["rita"] } }] },
    { id: "discreet", schema, tokens: { discloseCurrent: false } },
  ];
  for (const intake of intakes) {
    const { status, body } = await server.putIntake(intake);
    if (status !== 201) throw new Error(`no intake ${intake.id}: ${JSON.stringify(body)}`);
  }
}
