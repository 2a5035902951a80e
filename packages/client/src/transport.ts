import type { ErrorBody } from "@formbridge/contract";
import { FormBridgeError } from "./error.ts";
import { type ClientOptions, RETRY_DEFAULTS, sleepFor } from "./options.ts";

export interface Request {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  /** The path without ids or secrets, for telemetry. */
  route: string;
  query?: Record<string, string | number | boolean | undefined>;
  headers?: Record<string, string>;
  body?: unknown;
  signal?: AbortSignal | undefined;
  /**
   * May the call be repeated when nobody knows whether it was executed? Reads may, and writes with an idempotency key.
   * Without this, a call is repeated only when the server said that it did nothing.
   */
  repeatable: boolean;
}

/** Sends requests: a time limit for each try, a bounded number of tries, and delays with jitter between them. */
export interface Transport {
  send<Answer>(request: Request): Promise<Answer>;
  /** One try, for streamed responses. */
  open(request: Request, headers: Record<string, string>): Promise<Response>;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** The delay before try `attempt + 1`. */
  delay(attempt: number): number;
  fetch: typeof fetch;
}

/** Statuses after which any call may be repeated: nothing was executed, or executing it again is harmless. */
const REFUSED_FOR_NOW = new Set([429, 503]);
const FAILED = new Set([500, 502, 504]);

export function createTransport(options: ClientOptions): Transport {
  const retry = { ...RETRY_DEFAULTS, ...options.retry };
  const { telemetry, sleep = sleepFor, random = Math.random } = options;
  // A browser's fetch must be called on the window.
  const doFetch: typeof fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  const root = options.url.replace(/\/+$/, "");
  const secret = options.session ?? options.apiKey;

  const delay = (attempt: number): number =>
    Math.round(random() * Math.min(retry.maxDelayMs, retry.baseDelayMs * 2 ** (attempt - 1)));

  function initOf(request: Request, extra: Record<string, string>, signal: AbortSignal | undefined): RequestInit {
    return {
      method: request.method,
      headers: {
        accept: "application/json",
        ...(request.body !== undefined && { "content-type": "application/json" }),
        ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
        ...request.headers,
        ...extra,
      },
      ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
      ...(signal && { signal }),
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
      referrerPolicy: "no-referrer",
    };
  }

  async function attempt<Answer>(request: Request, number: number): Promise<Answer> {
    const { method, route, signal } = request;
    telemetry?.onRequest?.({ method, route, attempt: number });
    const began = performance.now();
    const limit = AbortSignal.timeout(retry.timeoutMs);
    const either = signal === undefined ? limit : AbortSignal.any([signal, limit]);
    try {
      const response = await doFetch(root + request.path + queryOf(request.query), initOf(request, {}, either));
      const answer = await readAnswer<Answer>(response);
      telemetry?.onResponse?.({
        method,
        route,
        attempt: number,
        status: response.status,
        ms: performance.now() - began,
      });
      return answer;
    } catch (error) {
      if (error instanceof FormBridgeError) {
        const { status = 0 } = error;
        telemetry?.onResponse?.({ method, route, attempt: number, status, ms: performance.now() - began });
        throw error;
      }
      if (signal?.aborted === true) throw signal.reason;
      if (limit.aborted) {
        const message = `The server did not respond within ${retry.timeoutMs} ms.`;
        throw new FormBridgeError("timeout", message, { retryable: true, cause: error });
      }
      throw new FormBridgeError("network_error", "The server could not be reached.", { retryable: true, cause: error });
    }
  }

  return {
    delay,
    sleep,
    fetch: doFetch,
    async send<Answer>(request: Request): Promise<Answer> {
      for (let number = 1; ; number++) {
        try {
          return await attempt<Answer>(request, number);
        } catch (error) {
          if (!(error instanceof FormBridgeError) || number >= retry.tries || !mayRepeat(error, request)) throw error;
          const delayMs = Math.max(delay(number), error.detail?.retryAfterMs ?? 0);
          const { method, route } = request;
          telemetry?.onRetry?.({ method, route, attempt: number, delayMs, reason: error.type });
          await sleep(delayMs, request.signal);
        }
      }
    },
    async open(request, headers) {
      const { signal } = request;
      const response = await doFetch(root + request.path + queryOf(request.query), initOf(request, headers, signal));
      if (!response.ok) throw await errorOf(response);
      return response;
    },
  };
}

function mayRepeat(error: FormBridgeError, { repeatable }: Request): boolean {
  if (!error.retryable) return false;
  if (error.status !== undefined && REFUSED_FOR_NOW.has(error.status)) return true;
  return repeatable && (error.status === undefined || FAILED.has(error.status));
}

function queryOf(query: Request["query"]): string {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  if (given.length === 0) return "";
  return `?${new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, String(value)])))}`;
}

async function readAnswer<Answer>(response: Response): Promise<Answer> {
  if (!response.ok) throw await errorOf(response);
  const text = await response.text();
  try {
    return JSON.parse(text) as Answer;
  } catch (cause) {
    const { status } = response;
    throw new FormBridgeError("bad_answer", "The server's response is not JSON.", { status, retryable: true, cause });
  }
}

/** The contract's envelope; a proxy in front of the server has none. */
async function errorOf(response: Response): Promise<FormBridgeError> {
  const { status } = response;
  const text = await response.text();
  const body = envelopeIn(text);
  if (body === undefined) {
    const retryable = FAILED.has(status) || REFUSED_FOR_NOW.has(status);
    return new FormBridgeError("bad_answer", `The server answered with status ${status}.`, { status, retryable });
  }
  const { type, message, retryable } = body.error;
  return new FormBridgeError(type, message, { status, body, retryable });
}

function envelopeIn(text: string): ErrorBody | undefined {
  try {
    const body = JSON.parse(text) as ErrorBody;
    return typeof body.error?.type === "string" ? body : undefined;
  } catch {
    return undefined;
  }
}
