import { ErrorBodySchema, type ErrorType } from "@formbridge/contract";
import { STATUS } from "../../packages/http/src/error-map.ts";
import { createValidator, type Operation } from "./operations.ts";
import type { WireAnswer, WireRequest } from "./wire.ts";

/** What a case knows about its expected response, beyond what holds for every response. */
export interface Expectation {
  operation: Operation | undefined;
  /** The call can't be valid: anything but a refusal is a finding. Reads are exempt. */
  mustRefuse?: boolean;
  /** Nothing in this call entitles it to a resume token. */
  mayNotLearnToken?: boolean;
}

const checkErrorBody = createValidator().compile(JSON.parse(JSON.stringify(ErrorBodySchema)) as object);

const STATUS_OF: Readonly<Record<ErrorType, number>> = STATUS;
const NOT_ERRORS = [200, 201, 204, 304];
const KNOWN = new Set<number>([...NOT_ERRORS, ...Object.values(STATUS)]);
/** The two types with a second number (error-map.ts). */
const SECOND: Partial<Record<ErrorType, { status: number; reason: string }>> = {
  token_invalid: { status: 400, reason: "malformed" },
  invalid: { status: 400, reason: "idempotency_key_required" },
};
const SAFE_REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;
const TOKEN = /rtok_[A-Za-z0-9_-]{43}/g;
const API_KEY = /fbk_[A-Za-z0-9_-]{43}/g;
const SESSION = /sess_[A-Za-z0-9_-]{43}/g;
/** What reveals our internals: stack frames, our folders, SQL, drivers. */
const INSIDES = [
  /\bat [^\n"]{0,200}:\d+:\d+/g,
  /\/(?:work|tmp|home|usr)\/[\w./-]+/g,
  /node_modules|node:internal|file:\/\//g,
  /SQLITE_\w+|SqliteError|\b(?:SELECT|INSERT|UPDATE|DELETE)\b[^"]{1,80}\b(?:FROM|INTO|SET)\b/g,
  /(?:Type|Range|Reference|Syntax)Error\b/g,
  /Cannot read propert|is not a function|Unexpected token/g,
];

interface Seen {
  request: WireRequest;
  answer: WireAnswer;
}

/** Every way in which a response breaks the promises that hold for all of them; empty if it keeps them. */
export function problemsOf(request: WireRequest, answer: WireAnswer, expectation: Expectation): string[] {
  const seen: Seen = { request, answer };
  return [
    ...statusProblems(seen, expectation),
    ...headerProblems(seen),
    ...(answer.status >= 400 ? errorProblems(seen) : successProblems(seen, expectation.operation)),
    ...leakProblems(seen, expectation),
  ];
}

/** Everything that the caller sent, to distinguish an echo from a leak. */
function saidIn({ path, headers, body }: WireRequest): string {
  const decoded = /%[0-9a-f]{2}/i.test(path) ? path.replace(/(?:%[0-9a-f]{2})+/gi, decodeOrKeep) : path;
  return [path, decoded, ...headers.flat(), body?.subarray(0, 100_000).toString("utf8") ?? ""].join("\n");
}

function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function statusProblems({ request, answer }: Seen, { operation, mustRefuse }: Expectation): string[] {
  const { status } = answer;
  // The reference page lives under its folder.
  if (status === 301 && /^\/docs/.test(request.path)) return [];
  if (!KNOWN.has(status)) return [`status ${status} is not one of the contract`];
  const problems: string[] = [];
  const isTrue503 = status === 503 && /^createHandoff/.test(operation?.id ?? "");
  if (status >= 500 && !isTrue503) problems.push(`status ${status}`);
  if (status === 204 && request.method !== "OPTIONS") problems.push("a 204 to something that is no preflight");
  if (mustRefuse === true && request.method !== "GET" && request.method !== "HEAD" && status < 400) {
    problems.push(`a call that can't be right was answered ${status}`);
  }
  if (operation !== undefined && status < 500 && status !== 405 && !operation.statuses.has(String(status))) {
    problems.push(`${operation.id}: status ${status} is not declared in /openapi.json`);
  }
  return problems;
}

function headerProblems({ request, answer }: Seen): string[] {
  const { headers, status } = answer;
  const problems: string[] = [];
  const given = request.headers.filter(([name]) => name.toLowerCase() === "x-request-id");
  const id = headers["x-request-id"];
  if (id === undefined || !SAFE_REQUEST_ID.test(id)) problems.push(`X-Request-Id is ${String(id)}`);
  const [only] = given;
  // Input that is not HTTP has no header to echo; its connection is closed.
  const wasRead = headers.connection !== "close";
  const isEcho = wasRead && given.length === 1 && only !== undefined && SAFE_REQUEST_ID.test(only[1]);
  if (isEcho && id !== only[1]) problems.push("a good X-Request-Id was not echoed");
  if ("x-evil" in headers) problems.push("a header was smuggled into the response");
  if (status === 401 && !("www-authenticate" in headers)) problems.push("a 401 without WWW-Authenticate");
  if (status === 405 && !("allow" in headers)) problems.push("a 405 without Allow");
  if (status === 429 && !("retry-after" in headers)) problems.push("a 429 without Retry-After");
  return problems;
}

function errorProblems({ request, answer }: Seen): string[] {
  if (request.method === "HEAD") return [];
  if (!answer.headers["content-type"]?.startsWith("application/json")) {
    return [`an error as ${String(answer.headers["content-type"])}: ${answer.body.slice(0, 80)}`];
  }
  const body = parsed(answer.body);
  if (!checkErrorBody(body)) return [`no ErrorBody: ${message(checkErrorBody.errors)}`];
  const { error } = body as { error: { type: ErrorType; reason?: string } };
  const second = SECOND[error.type];
  const isSecond = second !== undefined && second.reason === error.reason;
  const expected = isSecond ? second.status : STATUS_OF[error.type];
  return expected === answer.status ? [] : [`${error.type} came with ${answer.status}, its status is ${expected}`];
}

function successProblems({ request, answer }: Seen, operation: Operation | undefined): string[] {
  if (request.method === "HEAD" || [204, 301, 304].includes(answer.status) || answer.live) return [];
  const [mediaType = ""] = (answer.headers["content-type"] ?? "").split(";");
  if (operation === undefined)
    return isOpenPath(request) ? [] : [`${answer.status} from a path that is not documented`];
  if (!operation.template.includes("{") && /^\/(?:healthz|readyz|openapi)/.test(operation.template)) return [];
  const check = operation.checkSuccess(answer.status, mediaType);
  if (check === undefined) return [`${operation.id}: no schema for ${answer.status} ${mediaType}`];
  // A page contains no data: it is the same text for every request.
  if (mediaType === "text/html") return answer.body.startsWith("<!doctype html>") ? [] : ["a page that is none"];
  if (mediaType !== "application/json") return linesProblems(answer.body);
  return check(parsed(answer.body))
    ? []
    : [`${operation.id}: the response is not as declared: ${message(check.errors)}`];
}

const isOpenPath = ({ path }: WireRequest): boolean => /^\/(?:docs|openapi\.json)/.test(path);

function linesProblems(body: string): string[] {
  const isWhole = body.split("\n").every((line) => line === "" || typeof parsed(line) === "object");
  return isWhole ? [] : ["a line of JSON lines is no JSON"];
}

function leakProblems({ request, answer }: Seen, { operation, mayNotLearnToken }: Expectation): string[] {
  const text = `${answer.head}\n${answer.body}`;
  let said: string | undefined;
  const told = (pattern: RegExp): string[] =>
    (text.match(pattern) ?? []).filter((found) => {
      said ??= saidIn(request);
      return !said.includes(found);
    });
  const problems: string[] = [];
  // A refusal about a known submission includes its token for a key that may hold it.
  const hasKey = request.headers.some(([name, value]) => /^authorization$/i.test(name) && value.includes("fbk_"));
  const isToHolder = hasKey && answer.body.includes('"submissionId":"sub_');
  if (answer.status >= 400) {
    for (const pattern of INSIDES) {
      const [found] = told(pattern);
      if (found !== undefined) problems.push(`reveals internals: ${found.slice(0, 120)}`);
    }
  }
  const isClosed = [401, 410].includes(answer.status) || ([403, 404].includes(answer.status) && !isToHolder);
  if ((isClosed || mayNotLearnToken === true) && told(TOKEN).length > 0) {
    problems.push(`a resume token in a ${answer.status} for a caller who may not hold it`);
  }
  if (told(API_KEY).length > 0 && !(operation?.id === "createKey" && answer.status === 201))
    problems.push("an API key in a response");
  if (
    told(SESSION).length > 0 &&
    !(/^(?:createHandoff|openSession)/.test(operation?.id ?? "") && answer.status === 201)
  )
    problems.push("a session in a response");
  return problems;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const message = (errors: { instancePath: string; message?: string; params: object }[] | null | undefined): string => {
  const [first] = errors ?? [];
  return first === undefined ? "?" : `${first.instancePath} ${first.message ?? ""} ${JSON.stringify(first.params)}`;
};
