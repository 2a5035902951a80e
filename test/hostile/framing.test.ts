import { METHODS } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type OpenApi, type Operations, readOperations } from "./operations.ts";
import { problemsOf } from "./oracle.ts";
import { encodeRequest, sendRaw, type WireAnswer } from "./wire.ts";
import { createWorld, type World } from "./world.ts";

/** Bytes that are almost HTTP, each on its own connection. */
let world: World;
let operations: Operations;
let auth: string;

beforeAll(async () => {
  world = await createWorld();
  operations = readOperations((await world.test.call("GET", "/openapi.json")).body as OpenApi);
  auth = `Authorization: Bearer ${world.own.admin}\r\n`;
});
afterAll(() => world.test.stop());

const WAIT_MS = 1500;
/** For requests with `Connection: close`: the server ends the wait. */
const UNTIL_CLOSED_MS = 20_000;
const HOST = "Host: 127.0.0.1\r\n";
const JSON_TYPE = "Content-Type: application/json\r\n";

async function answersTo(bytes: string | Buffer, method = "GET", waitMs = WAIT_MS): Promise<WireAnswer[]> {
  return await sendRaw(world.port, typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes, {
    waitMs,
    method,
  });
}

function expectRefused(answers: WireAnswer[]): void {
  expect(answers.length).toBeGreaterThan(0);
  for (const answer of answers) {
    expect(
      problemsOf({ method: "POST", path: "/", headers: [] }, answer, { operation: undefined, mustRefuse: true }),
    ).toEqual([]);
  }
}

describe("what is not HTTP is refused in the contract's envelope", () => {
  test.each<[string, string]>([
    ["a TLS hello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"],
    ["plain words", "hello there\r\n\r\n"],
    ["a method in lower case", `get /healthz HTTP/1.1\r\n${HOST}\r\n`],
    ["a version that is not spoken here", `GET /healthz HTTP/3.0\r\n${HOST}\r\n`],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["no Host", "GET /healthz HTTP/1.1\r\n\r\n"],
    ["a space in the target", `GET /intakes/a b HTTP/1.1\r\n${HOST}\r\n`],
    [
      "a bare line feed in a header",
      `GET /healthz HTTP/1.1\r\n${HOST}X: a\nX-Evil: 1\r\n\r\n`.replace("\nX-Evil", "\rX-Evil"),
    ],
    ["a NUL in a header", `GET /healthz HTTP/1.1\r\n${HOST}X: a\0b\r\n\r\n`],
    ["a header name with a space", `GET /healthz HTTP/1.1\r\n${HOST}X Y: a\r\n\r\n`],
    ["a folded header", `GET /healthz HTTP/1.1\r\n${HOST}X: a\r\n b\r\n\r\n`],
    ["a header block over 16 KiB", `GET /healthz HTTP/1.1\r\n${HOST}X: ${"a".repeat(17_000)}\r\n\r\n`],
    ["many headers over 16 KiB", `GET /healthz HTTP/1.1\r\n${HOST}${"x: 1\r\n".repeat(4000)}\r\n`],
    ["a target over 16 KiB", `GET /${"a".repeat(17_000)} HTTP/1.1\r\n${HOST}\r\n`],
    ["two lengths that disagree", `POST /keys HTTP/1.1\r\n${HOST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
    [
      "a length and chunks",
      `POST /keys HTTP/1.1\r\n${HOST}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    ],
    ["a negative length", `POST /keys HTTP/1.1\r\n${HOST}Content-Length: -1\r\n\r\n{}`],
    ["a length that is no number", `POST /keys HTTP/1.1\r\n${HOST}Content-Length: two\r\n\r\n{}`],
    ["a length beyond counting", `POST /keys HTTP/1.1\r\n${HOST}Content-Length: 99999999999999999999\r\n\r\n{}`],
    [
      "a chunk size that is none",
      `POST /keys HTTP/1.1\r\n${HOST}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
    ],
    ["an encoding that nobody knows", `POST /keys HTTP/1.1\r\n${HOST}${JSON_TYPE}Transfer-Encoding: rot13\r\n\r\n{}`],
    ["an expectation that nobody meets", `POST /keys HTTP/1.1\r\n${HOST}Expect: miracles\r\nContent-Length: 0\r\n\r\n`],
    ["a tunnel", `CONNECT evil.example:443 HTTP/1.1\r\n${HOST}\r\n`],
  ])("[BAD-INPUT-ENVELOPE] %s", async (_, text) => {
    expectRefused(await answersTo(text));
  });
});

describe("bodies that lie about their length", () => {
  test("[BAD-INPUT-NO-EFFECT] a body shorter than it says is not acted on when the caller leaves", async () => {
    const { body: before } = await world.test.call("GET", "/keys?limit=1000", { key: world.own.admin });
    const body = JSON.stringify({ name: "cut", roles: ["admin"], actor: { kind: "human", id: "cut" } });
    await answersTo(
      `POST /keys HTTP/1.1\r\n${HOST}${auth}${JSON_TYPE}Content-Length: ${body.length + 1}\r\n\r\n${body}`,
    );
    const { body: after } = await world.test.call("GET", "/keys?limit=1000", { key: world.own.admin });
    expect(after.items).toEqual(before.items);
  });

  test("what follows a body that is longer than it says is not taken for part of it", async () => {
    const answers = await answersTo(
      `POST /keys HTTP/1.1\r\n${HOST}${auth}${JSON_TYPE}Content-Length: 2\r\n\r\n{}{"name":"x"}`,
    );
    expectRefused(answers);
  });

  test("a request hidden in the body of another one is not answered", async () => {
    const hidden = `DELETE /intakes/${world.own.gatedIntake} HTTP/1.1\r\n${HOST}${auth}\r\n`;
    const answers = await answersTo(
      `POST /keys HTTP/1.1\r\n${HOST}${auth}${JSON_TYPE}Content-Length: ${hidden.length}\r\n\r\n${hidden}`,
    );
    expect(answers).toHaveLength(1);
    expect(
      (await world.test.call("GET", `/intakes/${world.own.gatedIntake}`, { key: world.own.admin })).body.intake.retired,
    ).not.toBe(true);
  });

  test("[BAD-INPUT-TOO-LARGE] a chunked body of 2 MiB is cut off with a 413", async () => {
    const body = Buffer.from(`{"name":"${"x".repeat(2 * 1024 * 1024)}"}`);
    const headers = [
      ["Host", "x"],
      ["Authorization", `Bearer ${world.own.admin}`],
      ["Content-Type", "application/json"],
    ] as const;
    const [answer] = await answersTo(encodeRequest({ method: "POST", path: "/keys", headers, body, chunked: true }));
    expect(answer?.status).toBe(413);
    expectRefused(answer === undefined ? [] : [answer]);
  });
});

describe("methods and pipelines", () => {
  // HTTP/1.1 has CONNECT of its own form, above.
  test.each(METHODS.filter((method) => method !== "CONNECT"))(
    "[BAD-INPUT-ENVELOPE] %s on a known and an unknown path keeps the contract",
    async (method) => {
      for (const path of ["/keys", "/nope", "/submissions/x/fields", "*", "/docs", "/healthz"]) {
        const request = {
          method,
          path,
          headers: [
            ["Host", "x"],
            ["Connection", "close"],
            ["Content-Length", "0"],
          ],
        } as const;
        const answers = await answersTo(encodeRequest(request), method, UNTIL_CLOSED_MS);
        expect(answers).toHaveLength(1);
        const operation = operations.find(method, path);
        for (const answer of answers)
          expect(problemsOf({ ...request }, answer, { operation }), `${method} ${path} ${answer.status}`).toEqual([]);
      }
    },
  );

  test("200 requests at once on one connection are answered in their order", async () => {
    const ids = Array.from({ length: 200 }, (_, index) => `pipe-${index}`);
    const paths = ["/healthz", "/submissions/nope", "/%zz", "/keys", "/nope", "/submissions/nope/events"];
    const text = ids.map((id, index) => {
      const close = index === ids.length - 1 ? "Connection: close\r\n" : "";
      return `GET ${paths[index % paths.length]} HTTP/1.1\r\n${HOST}${auth}Accept: text/event-stream, application/json\r\nX-Request-Id: ${id}\r\n${close}\r\n`;
    });
    const answers = await answersTo(text.join(""));
    expect(answers.map(({ headers }) => headers["x-request-id"])).toEqual(ids);
  });
});
