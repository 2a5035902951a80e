/** What a person could tell an agent, by intake and path. Some of it only the person may write. */
export interface Bag {
  values: Readonly<Record<string, unknown>>;
  /** Only a human may enter these. */
  byHuman?: Readonly<Record<string, unknown>>;
  /** Files by path. */
  files?: Readonly<Record<string, { filename: string; mimeType: string; bytes: Buffer }>>;
}

const PDF = Buffer.from("%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< >>\n%%EOF\n");

/** Complete values for each of the example intakes. */
export const BAGS: Readonly<Record<string, Bag>> = {
  contact: { values: { name: "Ada Lovelace", email: "ada@example.com", message: "Hello" } },
  "purchase-request": { values: { item: "Pens", amount: 12 } },
  "it-access-request": {
    values: {
      requester_email: "ada@example.com",
      system: "crm",
      access_level: "write",
      data_class: "internal",
      reason: "The yearly audit of accounts",
      until: "2026-12-31",
      manager_email: "boss@example.com",
    },
  },
  "expense-report": {
    values: {
      employee_email: "ada@example.com",
      period: { from: "2026-02-01", to: "2026-02-28" },
      "period.from": "2026-02-01",
      "period.to": "2026-02-28",
      currency: "EUR",
      items: [{ amount: 20, date: "2026-02-03", category: "meals" }],
    },
  },
  "compliance-declaration": {
    values: {
      full_name: "Grace Hopper",
      department: "engineering",
      year: 2026,
      has_conflict: false,
      nothing_to_declare: true,
      signed_on: "2026-03-01",
    },
    byHuman: { signature: "Grace Hopper" },
  },
  "vendor-onboarding": {
    values: {
      legal_name: "Acme Supplies LLC",
      country: "US",
      tax_id: "12-3456789",
      contact: { name: "Ada", email: "ada@example.com" },
      "contact.name": "Ada",
      "contact.email": "ada@example.com",
      address: { street: "Main Street 1", city: "Springfield", postal_code: "12345" },
      payment_terms: "net_30",
    },
    files: { w9_document: { filename: "w9.pdf", mimeType: "application/pdf", bytes: PDF } },
  },
};
