import { createOpenApi } from "@formbridge/http";
import { beforeAll, describe, expect, test } from "vitest";
import { type OpenApi, type Operations, readOperations } from "./operations.ts";
import { type Expectation, problemsOf } from "./oracle.ts";
import { differences } from "./sentinels.ts";
import type { WireAnswer, WireRequest } from "./wire.ts";

/** The judge must be able to fail: every promise it checks is broken here once. */
const request: WireRequest = { method: "POST", path: "/keys", headers: [["X-Request-Id", "r-1"]] };
const TOKEN = `rtok_${"q".repeat(43)}`;
const error = (type: string, more: object = {}) =>
  JSON.stringify({ ok: false, error: { type, message: "No.", retryable: false, ...more } });

function answer(status: number, body: string, headers: Record<string, string> = {}): WireAnswer {
  const all = { "x-request-id": "r-1", "content-type": "application/json; charset=utf-8", ...headers };
  const head = Object.entries(all)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\r\n");
  return { status, headers: all, head, body, live: false };
}

let operations: Operations;
beforeAll(() => {
  const document = createOpenApi({ version: "0", publicUrl: "http://127.0.0.1" });
  operations = readOperations(JSON.parse(JSON.stringify(document)) as OpenApi);
});

const judged = (given: WireAnswer, expectation: Partial<Expectation> = {}, asked = request): string[] =>
  problemsOf(asked, given, { operation: operations.find(asked.method, asked.path), ...expectation });

describe("the judge of hostile cases", () => {
  test("accepts a correct refusal and a correct success", () => {
    expect(judged(answer(400, error("bad_request")))).toEqual([]);
    expect(judged(answer(201, JSON.stringify({ ok: true, keyId: "key_1", key: "shown" })))).toEqual([]);
    expect(judged(answer(400, error("token_invalid", { reason: "malformed" })))).toEqual([]);
  });

  test.each<[string, WireAnswer, RegExp]>([
    ["a 500", answer(500, error("internal_error")), /status 500/],
    ["a 503 that is not about storage", answer(503, error("service_unavailable")), /status 503/],
    ["a status that the contract does not have", answer(418, error("bad_request")), /not one of the contract/],
    [
      "an error that is not JSON",
      answer(400, "<h1>no</h1>", { "content-type": "text/html" }),
      /an error as text\/html/,
    ],
    ["an error without the envelope", answer(400, '{"statusCode":400,"message":"no"}'), /no ErrorBody/],
    ["an envelope with more in it", answer(400, error("bad_request", { stack: "x" })), /no ErrorBody/],
    ["an error type with the status of another one", answer(400, error("not_found")), /its status is 404/],
    ["a second status without its reason", answer(400, error("invalid")), /its status is 422/],
    ["a status that the document does not declare", answer(410, error("expired")), /not declared/],
    ["a success that is not as declared", answer(201, '{"ok":true,"keyId":1}'), /not as declared/],
    ["a stack trace", answer(400, error("bad_request", { message: "x at parse (file.ts:10:3)" })), /internals/],
    ["a path of ours", answer(400, error("bad_request", { message: "no /srv/app/node_modules/x.ts" })), /internals/],
    ["a word of the database", answer(400, error("bad_request", { message: "SQLITE_BUSY" })), /internals/],
    ["a statement", answer(400, error("bad_request", { message: "SELECT a FROM b" })), /internals/],
    ["a token in a 404", answer(404, error("not_found", { message: TOKEN })), /a resume token in a 404/],
    [
      "a token in the head of a 403",
      answer(403, error("forbidden"), { "x-resume-token": TOKEN }),
      /a resume token in a 403/,
    ],
    [
      "a key outside of where keys are made",
      answer(400, error("bad_request", { message: `fbk_${"k".repeat(43)}` })),
      /an API key/,
    ],
    ["a header that the caller smuggled in", answer(400, error("bad_request"), { "x-evil": "1" }), /smuggled/],
    ["a 401 that names no scheme", answer(401, error("unauthorized")), /WWW-Authenticate/],
    [
      "another request id than the one given",
      answer(400, error("bad_request"), { "x-request-id": "r-2" }),
      /not echoed/,
    ],
  ])("refuses %s", (_, given, problem) => {
    expect(judged(given).join("\n")).toMatch(problem);
  });

  test("refuses a response without a request id", () => {
    const { headers, ...rest } = answer(400, error("bad_request"));
    const { "x-request-id": _, ...others } = headers;
    expect(judged({ ...rest, headers: others }).join()).toMatch(/X-Request-Id is undefined/);
  });

  test("does not report an echo of the caller's own words as a leak", () => {
    const asked = { ...request, path: `/keys?${TOKEN}=1` };
    expect(judged(answer(404, error("not_found", { message: TOKEN })), { operation: undefined }, asked)).toEqual([]);
  });

  test("allows the 503 of a hand-off without e-mail, and only that", () => {
    const asked: WireRequest = { ...request, path: "/submissions/sub_1/handoffs" };
    const other: WireRequest = { ...request, path: "/submissions/sub_1/uploads" };
    expect(judged(answer(503, error("service_unavailable")), {}, asked)).toEqual([]);
    expect(judged(answer(503, error("service_unavailable")), {}, other).join()).toMatch(/status 503/);
    expect(judged(answer(500, error("internal_error")), {}, asked).join()).toMatch(/status 500/);
  });

  test("refuses a success where only a refusal is right", () => {
    const made = answer(201, JSON.stringify({ ok: true, keyId: "key_1", key: "shown" }));
    expect(judged(made, { mustRefuse: true }).join()).toMatch(/can't be right/);
  });

  test("refuses a token for a caller who may not hold it", () => {
    const told = answer(409, error("token_conflict", { message: TOKEN }));
    expect(judged(told, { mayNotLearnToken: true }).join()).toMatch(/may not hold it/);
  });

  test("sees that a sentinel changed, or is gone", () => {
    const before = new Map([
      ["a", '"version":1'],
      ["b", "2"],
    ]);
    expect(differences(before, new Map(before))).toEqual([]);
    expect(differences(before, new Map([["a", '"version":2']]))).toHaveLength(2);
  });
});
