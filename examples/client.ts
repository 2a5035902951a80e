/**
 * A program that fills in a form together with others, by the typed client.
 *
 *   node examples/client.ts http://127.0.0.1:3000
 */
import { createClient, type FieldsOf } from "@formbridge/client";

const CONTACT = {
  type: "object",
  properties: {
    name: { type: "string" },
    email: { type: "string" },
    topic: { enum: ["sales", "support", "billing", "other"] },
    message: { type: "string" },
  },
  required: ["name", "email", "message"],
} as const;
type Contact = FieldsOf<typeof CONTACT>;

const [url = "http://127.0.0.1:3000"] = process.argv.slice(2);
const client = createClient({ url, actor: { kind: "agent", id: "example" } });

const submission = await client.create<Contact>("contact", { name: "Ada", topic: "sales" });
process.stdout.write(`missing: ${submission.missingFields.join(", ")}\n`);

// Another program writes at the same time, on the version that this one has just seen.
const other = client.submission<Contact>({ resumeToken: submission.resumeToken ?? "" });
await other.set({ email: "ada@example.com" });

// This write is one version behind: the client merges it and writes again.
await submission.set({ message: "Hello" });
process.stdout.write(`fields: ${Object.keys(submission.fields).join(", ")}\n`);

const { state } = await submission.submit();
process.stdout.write(`state: ${state}\n`);

for await (const event of submission.watch()) process.stdout.write(`${event.seq} ${event.type}\n`);
