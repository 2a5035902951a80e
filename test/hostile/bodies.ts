import { longText, nested, UNSAFE_NAMES, VALUES } from "./corpus-bodies.ts";
import type { Operation, Schema } from "./operations.ts";
import type { Random } from "./random.ts";

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Body = { [name: string]: unknown };

/** Bodies that name the submission, its token or its version: the case decides about those. */
const TARGETS = new Set(["submissionId", "resumeToken", "version", "intakeId", "actor", "tenant"]);

const FIELD_SETS: readonly Body[] = [
  { name: "Ada" },
  { name: "Ada", topic: "other" },
  { name: "Ada", address: { city: "Oslo" } },
  { name: "Ada", note: "n" },
  { email: "ada@example.com", amount: 12.5 },
  { "address.city": "Paris", "address.zip": "75001" },
  { address: { city: "Rome" } },
  { items: [{ sku: "a", count: 2 }] },
  { "items.0": { sku: "b" } },
  { note: null },
  { name: null },
  { topic: "billing", amount: 3 },
  { "dotted.name": "literal" },
  { code: "ABC-1234", secret: "hidden" },
  { unknown: { deep: [1, 2, { three: 3 }] } },
];

const SCHEMAS: readonly Body[] = [
  { type: "object", properties: { name: { type: "string" } } },
  { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false },
];

/** A body that the document allows, with a part of the optional properties. */
export function validBody(operation: Operation, random: Random): Body | undefined {
  if (operation.body === undefined) return undefined;
  if (operation.id === "createKey") return keyBody(random);
  if (operation.id === "putIntake") return intakeBody(random);
  if (operation.id === "createWebhook") return webhookBody(random);
  if (operation.id === "rotateWebhookSecret") return {};
  if (operation.id.startsWith("createHandoff")) return handoffBody(random);
  // The actor it names is gone afterwards.
  if (operation.id === "eraseActor") {
    return { actor: { kind: "human", id: "nobody" }, dryRun: random.chance(0.5), limit: 1 + random.below(5) };
  }
  // An address that nobody uses: the cases come from loopback.
  if (operation.id === "createBlock") {
    return { address: `192.0.2.${1 + random.below(250)}`, endsAt: "2026-12-01T00:00:00.000Z" };
  }
  // Deliveries that are not given up would be restarted for the whole tenant, including the sentinels.
  if (operation.id === "retryDeliveries") return { state: "dead", limit: 1 + random.below(500) };
  if (operation.id === "reassignReview") return { reviewers: { ids: ["rita"] }, reason: "on holiday" };
  if (operation.id === "changeDestination") {
    return { destination: { kind: "webhook", url: "https://receiver.example.com/hook" } };
  }
  return validObject(operation.body.schema, random, { skip: TARGETS });
}

function keyBody(random: Random): Body {
  return {
    name: random.text(5),
    roles: [random.pick(["agent", "viewer", "reviewer"])],
    actor: { kind: "agent", id: random.text(6) },
    ...(random.chance(0.3) && { intakes: ["fz-a"] }),
    ...(random.chance(0.3) && { expiresAt: "2027-01-01T00:00:00.000Z" }),
    ...(random.chance(0.2) && { tenant: "spare" }),
  };
}

const webhookBody = (random: Random): Body => ({
  url: `https://receiver.invalid/${random.text(6)}`,
  ...(random.chance(0.3) && { types: ["field.updated", "token.created"] }),
  ...(random.chance(0.3) && { intakes: ["fz-a"] }),
});

const handoffBody = (random: Random): Body => ({
  ...(random.chance(0.7) && { kind: random.pick(["session", "session", "qr", "direct"]) }),
  ...(random.chance(0.1) && { kind: "magic_link", recipientEmail: "jane@example.com" }),
  ...(random.chance(0.2) && { expiresInMs: 60_000 + random.below(1_000_000) }),
  ...(random.chance(0.2) && { allowedActors: [{ kind: "human", id: "jane" }] }),
  ...(random.chance(0.2) && { qrFormat: random.pick(["svg", "png"]) }),
});

const intakeBody = (random: Random): Body => ({
  id: "fz-a",
  version: random.text(4),
  name: "spare",
  access: random.pick(["key", "public"]),
  schema: random.pick(SCHEMAS),
  destination: { kind: "store" },
  ...(random.chance(0.2) && { approvalGates: [{ name: "g", reviewers: {}, autoApproveIf: { "==": [1, 1] } }] }),
});

function validObject(schema: Schema, random: Random, { skip }: { skip: ReadonlySet<string> }): Body {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, Schema>; required?: string[] };
  const body: Body = {};
  for (const [name, inner] of Object.entries(properties)) {
    if (skip.has(name) || !(required.includes(name) || random.chance(0.5))) continue;
    body[name] = validValue(name, inner, random);
  }
  return body;
}

function validValue(name: string, schema: Schema, random: Random): unknown {
  const { type, enum: choices } = schema as { type?: string; enum?: unknown[] };
  if (name === "fields" || name === "initialFields") return random.pick(FIELD_SETS);
  if (name === "idempotencyKey") return random.text(33);
  if (name === "ttlMs") return 3_600_000 + random.below(1_000_000);
  if (name === "sha256") return random.text(64, "0123456789abcdef");
  if (name === "mimeType") return "application/pdf";
  if (name === "field") return "document";
  if (choices !== undefined) return random.pick(choices);
  if (type === "integer") return 1 + random.below(1000);
  if (type === "array") return [validValue("", (schema.items ?? {}) as Schema, random)];
  if (type === "object") return validObject(schema, random, { skip: new Set() });
  return random.text(8);
}

/** A top-level property of a type that its schema does not accept, or one unknown to the schema. */
export function surelyWrong(operation: Operation, body: Body, random: Random): Body {
  const { properties = {} } = (operation.body?.schema ?? {}) as { properties?: Record<string, Schema> };
  const names = Object.keys(properties).filter((name) => typeof properties[name]?.type === "string");
  if (names.length === 0 || random.chance(0.3))
    return { ...body, [random.pick(["extra", "toString", "", "Fields", "$ref"])]: 1 };
  const name = random.pick(names);
  const wrong = {
    string: [1, null, [], {}, true],
    integer: ["1", 1.5, null, [], {}, -1.5],
    array: ["x", {}, null, 1],
    object: [[], "x", null, 1],
  };
  const type = properties[name]?.type as string;
  return { ...body, [name]: random.pick<unknown>(wrong[type as keyof typeof wrong] ?? [Symbol.iterator.toString()]) };
}

/** Positions in a value, as the containers and names that lead to them. */
function places(value: Json, found: { holder: Json; name: string | number }[] = []): typeof found {
  if (typeof value !== "object" || value === null) return found;
  const entries = Array.isArray(value) ? value.map((inner, index) => [index, inner] as const) : Object.entries(value);
  for (const [name, inner] of entries) {
    found.push({ holder: value, name });
    places(inner, found);
  }
  return found;
}

function placeIn(holder: Json, name: string | number, value: unknown): void {
  if (typeof holder !== "object" || holder === null) return;
  Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true });
}

/** A body with one thing wrong: replaced, renamed, deleted, repeated, or unsafe. As text, because JSON can express more than values can. */
export function mutated(body: Body, random: Random): string {
  const copy = JSON.parse(JSON.stringify(body)) as Json;
  const found = places(copy);
  const at = found.length === 0 ? { holder: copy, name: "fields" } : random.pick(found);
  const { holder, name } = at;
  const marker = `marker${random.text(6)}`;
  switch (random.below(9)) {
    case 0:
      placeIn(holder, random.pick(UNSAFE_NAMES), random.pick([1, {}, { polluted: true }]));
      break;
    case 1:
      placeIn(
        holder,
        `${random.pick(["a.", "address.", ""])}${random.pick(UNSAFE_NAMES)}.${random.pick(["x", "polluted"])}`,
        1,
      );
      break;
    case 2:
      if (!Array.isArray(holder)) delete (holder as Record<string, Json>)[String(name)];
      break;
    case 3:
      placeIn(holder, name, longText(random.pick([201, 256, 2001, 5001, 70_000])));
      break;
    case 4:
      placeIn(holder, name, marker);
      return JSON.stringify(copy).replace(`"${marker}"`, random.pick(RAW_VALUES));
    case 5:
      placeIn(
        holder,
        random.pick([
          "a..b",
          ".",
          "..",
          "a.",
          ".a",
          "a.0.b",
          "items.99",
          "items.-1",
          "items.0.sku",
          "x".repeat(300),
          "a.".repeat(70),
        ]),
        1,
      );
      break;
    case 6: {
      const text = JSON.stringify(copy);
      const [first] = Object.keys(copy as object);
      return first === undefined
        ? text
        : `{${JSON.stringify(first)}:${JSON.stringify(random.pick(VALUES))},${text.slice(1)}`;
    }
    default:
      placeIn(holder, name, random.pick(VALUES));
  }
  return JSON.stringify(copy);
}

/** What no JavaScript value serializes to. */
const RAW_VALUES: readonly string[] = [
  "9007199254740993",
  "-9007199254740993",
  "1e400",
  "0.1000000000000000055",
  "1E2",
  "-0",
  "-0.0",
  "0e99999",
  "1.0",
  "100000000000000000000",
  "1e21",
  "5e-324",
  "1e-400",
  '"\\ud83d"',
  '"\\ude00\\ud83d"',
  '"\\u0000"',
  '{"a":1,"a":2}',
  nested(63, "array"),
  nested(64, "array"),
  nested(200, "array"),
  nested(200, "object"),
];
