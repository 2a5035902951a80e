import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../support/harness.ts";
import { DISGUISED_FILES, HOSTILE_FILES, zip } from "../support/hostile-files.ts";
import { create, expectError, record } from "../support/submissions.ts";
import { announce, digestOf, FILES_SCHEMA, type FileToSend, filesAtRest, PDF, PNG, walk } from "../support/uploads.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "files", schema: FILES_SCHEMA });
});
afterAll(() => server.stop());

/** What a hostile file may be called, and where it may be sent to. */
const CLAIMS: Pick<FileToSend, "field" | "mimeType" | "filename">[] = [
  { field: "pdf", mimeType: "application/pdf", filename: "invoice.pdf" },
  { field: "image", mimeType: "image/png", filename: "cat.png" },
  { field: "text", mimeType: "text/plain", filename: "notes.txt" },
  { field: "text", mimeType: "text/csv", filename: "table.csv" },
  { field: "text", mimeType: "application/json", filename: "data.json" },
  { field: "any", mimeType: "image/jpeg", filename: "photo.jpg" },
  {
    field: "office",
    mimeType: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    filename: "letter.docx",
  },
  { field: "office", mimeType: "application/msword", filename: "letter.doc" },
];

/** Whatever was accepted: its bytes match the digest, and no browser displays them. */
async function expectSavedOnly({
  submissionId,
  uploadId,
  bytes,
}: {
  submissionId: string;
  uploadId: string;
  bytes: Buffer;
}) {
  const path = `/submissions/${submissionId}/uploads/${uploadId}`;
  const { url, sha256, sizeBytes } = (await server.call("GET", path, { key: server.adminKey })).body;
  expect({ sha256, sizeBytes }).toEqual({ sha256: digestOf(bytes), sizeBytes: bytes.length });
  const response = await fetch(url);
  expect(digestOf(Buffer.from(await response.arrayBuffer()))).toBe(sha256);
  expect(response.headers.get("content-disposition")).toMatch(/^attachment; /);
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  expect(response.headers.get("content-security-policy")).toContain("sandbox");
  expect(response.headers.get("content-type")).not.toMatch(/html|svg|xml|javascript/);
}

async function expectRefused(file: FileToSend): Promise<void> {
  const { reply, uploadId, submissionId } = await walk(server, file);
  expect(expectError(reply, 422, "invalid").fields).toMatchObject([{ code: "file_wrong_type" }]);
  expect(filesAtRest(server).filter((name) => name.includes(uploadId))).toEqual([]);
  expect((await record(server, submissionId)).fields).toEqual({});
}

describe("hostile files", () => {
  it("[UPLOADS-TYPE] are more than a hundred", () => {
    const digests = [...HOSTILE_FILES, ...DISGUISED_FILES].map(({ bytes }) => digestOf(bytes));
    expect(new Set(digests).size).toBeGreaterThan(100);
  });

  it.each(DISGUISED_FILES)(
    "[UPLOADS-TYPE] [UPLOADS-ACTIVE] $name is refused, or saved and never shown",
    async ({ bytes, mimeType }) => {
      for (const claimed of [mimeType, "application/octet-stream"]) {
        const { reply, submissionId, uploadId } = await walk(server, { field: "any", mimeType: claimed, bytes });
        if (reply.status === 200) await expectSavedOnly({ submissionId, uploadId, bytes });
        else {
          expect(expectError(reply, 422, "invalid").fields).toMatchObject([{ code: "file_wrong_type" }]);
          expect(filesAtRest(server).filter((name) => name.includes(uploadId))).toEqual([]);
        }
      }
    },
  );

  it.each(HOSTILE_FILES)("[UPLOADS-TYPE] $name never passes as something else", async ({ bytes, is }) => {
    for (const claim of CLAIMS) await expectRefused({ ...claim, bytes });
    const unknown = { field: "any", mimeType: "application/octet-stream", filename: "data", bytes };
    if (is === undefined) {
      await expectRefused(unknown);
      return;
    }
    const { reply, submissionId, uploadId } = await walk(server, unknown);
    expect(reply.body.fields.any.mimeType).toBe(is);
    await expectSavedOnly({ submissionId, uploadId, bytes });
  });
});

describe("what a browser would run", () => {
  const page = Buffer.from("<!doctype html><title>x</title><script>alert(1)</script>");
  const drawing = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><circle r="1"/></svg>`);
  it("[UPLOADS-ACTIVE] is refused where the field accepts it only among others", async () => {
    await expectRefused({ field: "any", bytes: page, mimeType: "text/html" });
    await expectRefused({ field: "image", bytes: drawing, mimeType: "image/svg+xml" });
    await expectRefused({ field: "any", bytes: Buffer.from("alert(1)"), mimeType: "text/javascript" });
  });

  it("[UPLOADS-ACTIVE] is accepted where the field names it, and served as plain bytes", async () => {
    const files = [
      { field: "html", bytes: page, mimeType: "text/html" },
      { field: "svg", bytes: drawing, mimeType: "image/svg+xml" },
    ];
    for (const file of files) {
      const { reply, submissionId, uploadId } = await walk(server, file);
      expect(reply.body.fields[file.field].mimeType).toBe(file.mimeType);
      await expectSavedOnly({ submissionId, uploadId, bytes: file.bytes });
    }
    await expectRefused({ field: "html", bytes: Buffer.from("just text"), mimeType: "text/html" });
    await expectRefused({ field: "svg", bytes: page, mimeType: "image/svg+xml" });
  });
});

describe("honest files", () => {
  const word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
  const types = `<?xml version="1.0"?><Types><Override ContentType="${word}.main+xml"/></Types>`;
  const office = (stream: string) =>
    Buffer.concat([
      Buffer.from("d0cf11e0a1b11ae1", "hex"),
      Buffer.alloc(1500),
      Buffer.from(stream, "utf16le"),
      Buffer.alloc(100),
    ]);
  const honest: [string, FileToSend][] = [
    ["a PDF", { field: "pdf", bytes: PDF }],
    ["a PNG", { field: "image", bytes: PNG, mimeType: "image/png" }],
    ["a PNG in a field that takes everything", { field: "any", bytes: PNG, mimeType: "image/png" }],
    ["a text", { field: "text", bytes: Buffer.from("Grüße, 東京 a < b && c > d\n"), mimeType: "text/plain" }],
    [
      "a text with two letters of a program",
      { field: "text", bytes: Buffer.from("MZ and BM are letters\n"), mimeType: "text/plain" },
    ],
    ["a table", { field: "text", bytes: Buffer.from("\ufeffBMW;1\r\nVW;2\r\n"), mimeType: "text/csv" }],
    ["JSON", { field: "text", bytes: Buffer.from(' [1, {"a": null}]'), mimeType: "application/json" }],
    [
      "what has no magic, where it is asked for",
      { field: "odd", bytes: Buffer.from([1, 2, 3, 0, 255]), mimeType: "application/x-odd" },
    ],
    ["an old letter", { field: "office", bytes: office("WordDocument"), mimeType: "application/msword" }],
    ["a new letter", { field: "office", bytes: zip("[Content_Types].xml", Buffer.from(types)), mimeType: word }],
  ];
  it.each(honest)("[UPLOADS-CONFIRM-CHECKS] %s is accepted", async (_name, file) => {
    const { reply } = await walk(server, file);
    expect({ status: reply.status, error: reply.body.error }).toEqual({ status: 200, error: undefined });
    expect(reply.body.fields[file.field]).toMatchObject({
      mimeType: file.mimeType ?? "application/pdf",
      sha256: digestOf(file.bytes),
    });
  });
});

it.each(["text/\u65e5", "text/x\r\nSet-Cookie: x=1", "text/a b", "text/", "///", "text", "text/plain; x=\u00e4"])(
  "[UPLOADS-TYPE] %j is not a type that a file can be announced as",
  async (mimeType) => {
    const made = await create(server, "files");
    const reply = await announce(server, made.resumeToken, { field: "any", bytes: PDF, mimeType });
    expectError(reply, 400, "bad_request");
  },
);

describe("bad names", () => {
  const names: [string, string][] = [
    ["../../etc/passwd", "passwd"],
    ["..\\..\\windows\\system32\\cmd.exe", "cmd.exe"],
    ["/etc/shadow", "shadow"],
    ["C:\\boot.ini", "boot.ini"],
    ["..", "file"],
    ["...", "file"],
    ["a\0b.pdf", "ab.pdf"],
    ["invoice\u202efdp.exe", "invoicefdp.exe"],
    ["\u2066x\u2069\u200b\ufeff.pdf", "x.pdf"],
    ["a\r\nSet-Cookie: x=1.pdf", "a Set-Cookie_ x=1.pdf"],
    ['a"; filename="b.exe', "a__ filename=_b.exe"],
    ["CON", "_CON"],
    ["nul.pdf", "_nul.pdf"],
    ["COM1.txt", "_COM1.txt"],
    ["  spaces   and dots. . .", "spaces and dots"],
    ["\x07\x1b[31mred.pdf", "[31mred.pdf"],
    [`${"ä".repeat(150)}.pdf`, `${"ä".repeat(98)}.pdf`],
    ["x".repeat(255), "x".repeat(200)],
    [".htaccess", ".htaccess"],
    ["e\u0301.pdf", "\u00e9.pdf"],
  ];
  it.each(names)("[UPLOADS-NAMES] %j becomes %j, and is not used as a name in storage", async (filename, clean) => {
    const { reply, uploadId } = await walk(server, { field: "pdf", bytes: PDF, filename });
    expect(reply.body.fields.pdf.filename).toBe(clean);
    const stored = filesAtRest(server).filter((name) => name.includes(uploadId));
    expect(stored).toEqual([expect.stringMatching(/^[\w-]+\.sub_[\w-]+\.upl_[\w-]+\.kept$/)]);
  });
});
