import { ConfigError } from "../config/reader.ts";

export interface Answer {
  status: number;
  body: Record<string, unknown>;
  ms: number;
}

export interface CallOptions {
  body?: unknown;
  /** Sent unchanged, instead of `body`. */
  raw?: string;
  headers?: Record<string, string>;
  /** The API key to send; the probe's own by default. */
  key?: string;
  /** Send no API key. */
  anonymous?: true;
}

/** One request, tried once: a retry would hide what a probe is looking for. Throws if there is no response. */
export type Call = (method: string, path: string, options?: CallOptions) => Promise<Answer>;

export interface Server {
  /** Without a trailing slash. */
  url: string;
  key?: string;
  timeoutMs: number;
}

export function createCalls({ url, key: own, timeoutMs }: Server): Call {
  return async (method, path, { body, raw, headers = {}, key = own, anonymous } = {}) => {
    const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const began = performance.now();
    try {
      const response = await fetch(url + path, {
        method,
        headers: {
          accept: "application/json",
          ...(content !== undefined && { "content-type": "application/json" }),
          ...(key !== undefined && !anonymous && { authorization: `Bearer ${key}` }),
          ...headers,
        },
        ...(content !== undefined && { body: content }),
        redirect: "error",
        signal: AbortSignal.timeout(timeoutMs),
      });
      const text = await response.text();
      return { status: response.status, body: parsed(text), ms: performance.now() - began };
    } catch (error) {
      throw new Error(`no response after ${Math.round(performance.now() - began)} ms: ${reasonOf(error)}`, {
        cause: error,
      });
    }
  };
}

/** A proxy in front of the server may respond with something else. */
function parsed(text: string): Answer["body"] {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null ? { ...body } : {};
  } catch {
    return {};
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message || error.cause.name : error.message;
}

/** A response in a few words, for a report. */
export function inWords({ status, body }: Answer): string {
  const { type, message } = (body.error ?? {}) as { type?: string; message?: string };
  return type === undefined ? `status ${status}` : `${status} ${type}: ${message ?? ""}`;
}

/** Checks a URL that an operator gave. */
export function serverUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new ConfigError(`--url is ${JSON.stringify(text)}; it takes a server's http: or https: URL.`);
  }
  const { username, password, origin, pathname } = new URL(text);
  if (username !== "" || password !== "") {
    throw new ConfigError("--url has a user name or a password; the key comes from FORMBRIDGE_PROBE_KEY.");
  }
  return origin + pathname.replace(/\/+$/, "");
}
