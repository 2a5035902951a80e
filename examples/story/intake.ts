import type { Destination, IntakeDefinition } from "@formbridge/contract";

/** A supplier: the agent knows most of it, a human the rest, two people approve, the destination gets the result. */
export const supplier = (destination: Destination): IntakeDefinition => ({
  id: "supplier",
  version: "1.0.0",
  name: "New supplier",
  schema: {
    type: "object",
    additionalProperties: false,
    required: ["company", "country", "iban", "certificate"],
    properties: {
      company: { type: "string", minLength: 1 },
      country: { type: "string", enum: ["DE", "FR", "NL"] },
      iban: { type: "string", minLength: 15, "x-fill": "human", "x-sensitive": true },
      certificate: { type: "object", "x-file": { accept: ["application/pdf"], maxBytes: 1_000_000 } },
    },
  },
  approvalGates: [
    {
      name: "procurement",
      reviewers: { emails: ["petra@example.com", "paul@example.com"] },
      requiredApprovals: 2,
    },
  ],
  destination,
});
