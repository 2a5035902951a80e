import { createClient, type FormBridgeClient } from "@formbridge/client";

type Fields = Record<string, unknown>;

interface Step {
  /** The request reaches the server, or the response its client. */
  deliver(): void;
  /** It is lost on the way. */
  lose(): void;
}

interface Commit {
  by: string;
  path: string;
  value: unknown;
  before: unknown;
}

/**
 * A server with one submission behind a network that the test controls: each request and each response is a separate
 * step, which happens when the test says so, in any order, or never. Versions, merge patches, 409s and replays follow
 * the contract; the real client connects to it.
 */
export class SimulatedServer {
  fields: Fields = {};
  version = 1;
  readonly commits: Commit[] = [];
  readonly steps: Step[] = [];
  readonly timers: (() => void)[] = [];
  /** Values that can't be stored. */
  unstorable = (_path: string, _value: unknown): boolean => false;
  /** Values that are not shown. */
  masked = (_path: string): boolean => false;
  /** Responds to the next writes without executing them. */
  readonly refusals: Response[] = [];
  readonly #changedAt = new Map<string, number>();
  readonly #answers = new Map<string, object>();
  readonly #streams = new Set<ReadableStreamDefaultController<Uint8Array>>();

  client(): FormBridgeClient {
    return createClient({
      url: "http://simulated",
      session: "simulated",
      fetch: (_input, init = {}) => this.#fetch(init),
      sleep: (_ms, signal) =>
        new Promise((resolve, reject) => {
          this.timers.push(resolve);
          signal?.addEventListener("abort", () => reject(signal.reason));
        }),
    });
  }

  readonly later = (_ms: number, callback: () => void): (() => void) => {
    this.timers.push(callback);
    return () => {
      const at = this.timers.indexOf(callback);
      if (at !== -1) this.timers.splice(at, 1);
    };
  };

  /** Somebody writes, based on the current state. */
  write(by: string, patch: Fields): void {
    this.version += 1;
    for (const [path, value] of Object.entries(patch)) {
      const before = at(this.fields, path);
      if (JSON.stringify(before ?? null) === JSON.stringify(value ?? null)) continue;
      this.fields = put(this.fields, path.split("."), value);
      this.#changedAt.set(path, this.version);
      this.commits.push({ by, path, value, before });
    }
    for (const stream of this.#streams) stream.enqueue(eventOf(this.version));
  }

  /** All connections break; everything that was stored stays. */
  restart(): void {
    for (const step of this.steps.splice(0)) step.lose();
    for (const stream of [...this.#streams]) stream.error(new TypeError("terminated"));
    this.#streams.clear();
  }

  #fetch(init: RequestInit): Promise<Response> {
    return new Promise((resolve, reject) => {
      const fail = () => reject(new TypeError("fetch failed"));
      init.signal?.addEventListener("abort", () => reject(init.signal?.reason));
      this.steps.push({
        lose: fail,
        deliver: () => {
          const answer = this.#answer(init);
          this.steps.push({ deliver: () => resolve(answer), lose: fail });
        },
      });
    });
  }

  #answer(init: RequestInit): Response {
    const headers = new Headers(init.headers);
    if (headers.get("accept") === "text/event-stream") {
      const last = headers.get("last-event-id");
      return this.#stream(last === null ? 1 : Number(last.slice("evt_".length)));
    }
    if (init.method !== "PATCH") return json(200, this.#record());
    const refusal = this.refusals.shift();
    if (refusal !== undefined) return refusal;
    const { fields: patch, idempotencyKey } = JSON.parse(String(init.body));
    const recorded = this.#answers.get(idempotencyKey);
    if (recorded !== undefined) return json(200, recorded);
    const on = Number(headers.get("if-match")?.replaceAll('"', ""));
    if (on !== this.version) return json(409, this.#conflict(patch, on));
    const wrong = Object.keys(patch).filter((path) => this.unstorable(path, patch[path]));
    if (wrong.length > 0) {
      const fields = wrong.map((path) => ({ path, code: "custom", message: `${path} can't be stored` }));
      return json(422, { ok: false, error: { type: "invalid", message: "invalid", retryable: true, fields } });
    }
    this.write("person", patch);
    const answer = { ...this.#record(), ok: true, updatedFields: Object.keys(patch) };
    this.#answers.set(idempotencyKey, answer);
    return json(200, answer);
  }

  #record(): object {
    let fields = this.fields;
    for (const [path, value] of Object.entries(fields)) {
      const mask = { masked: true };
      if (this.masked(path)) fields = put(fields, [path], Array.isArray(value) ? value.map(() => mask) : mask);
    }
    return {
      submissionId: "sub_1",
      state: "in_progress",
      version: this.version,
      fields,
      missingFields: [],
      validationErrors: [],
    };
  }

  #conflict(patch: Fields, on: number): object {
    const isOther = (path: string) => (this.#changedAt.get(path) ?? 0) > on;
    const fields = Object.keys(patch).filter(
      (path) => isOther(path) && JSON.stringify(at(this.fields, path) ?? null) !== JSON.stringify(patch[path] ?? null),
    );
    const { version } = this;
    const current = { version, fields: (this.#record() as { fields: Fields }).fields };
    const error = { type: "token_conflict", message: "stale", retryable: true, current, conflictDetails: { fields } };
    return { ok: false, submissionId: "sub_1", state: "in_progress", version, error };
  }

  #stream(seen: number): Response {
    let mine: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        mine = controller;
        this.#streams.add(controller);
        for (let version = seen + 1; version <= this.version; version++) controller.enqueue(eventOf(version));
      },
      cancel: () => {
        if (mine !== undefined) this.#streams.delete(mine);
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  }
}

function eventOf(version: number): Uint8Array {
  const event = { eventId: `evt_${version}`, type: "field.updated", version };
  return new TextEncoder().encode(`id: ${event.eventId}\ndata: ${JSON.stringify(event)}\n\n`);
}

const json = (status: number, body: object): Response => new Response(JSON.stringify(body), { status });

export const at = (fields: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((value, name) => (value as Fields | undefined)?.[name], fields);

function put(fields: Fields, [name = "", ...rest]: string[], value: unknown): Fields {
  if (rest.length > 0) return { ...fields, [name]: put((fields[name] ?? {}) as Fields, rest, value) };
  const { [name]: _, ...others } = fields;
  return value === null || value === undefined ? others : { ...others, [name]: value };
}

/** Runs everything that doesn't wait for something outside. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate);
}
