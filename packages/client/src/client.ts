import type {
  ActorInput,
  CreateSubmissionResponse,
  IntakeResponse,
  ListIntakesResponse,
  ListReviewsResponse,
  ListSubmissionsResponse,
  OpenSessionRequest,
  OpenSessionResponse,
  ReviewResponse,
  SubmissionSummary,
} from "@formbridge/contract";
import type { Access } from "./access.ts";
import { type CallOptions, type ClientOptions, type KeyedOptions, newIdempotencyKey } from "./options.ts";
import { Submission } from "./submission.ts";
import { createTransport, type Request } from "./transport.ts";

export interface CreateOptions extends KeyedOptions {
  ttlMs?: number;
  actor?: ActorInput;
}

export interface ListOptions extends CallOptions {
  intakeId?: string;
  state?: string;
  createdBy?: string;
  from?: string;
  until?: string;
  fields?: boolean;
  limit?: number;
}

export interface Decision {
  decision: "approved" | "rejected";
  reasons?: string[];
  /** By dot-path: what to change there. */
  fieldReasons?: Record<string, string>;
  /** Sent with an approval. */
  comment?: string;
  actor?: ActorInput;
}

/** A FormBridge server, as one caller sees it. */
export class FormBridgeClient {
  readonly #options: ClientOptions;
  readonly #access: Access;

  constructor(options: ClientOptions) {
    this.#options = options;
    const { apiKey, session, telemetry } = options;
    this.#access = {
      transport: createTransport(options),
      telemetry,
      hasKey: apiKey !== undefined && session === undefined,
      hasCredential: apiKey !== undefined || session !== undefined,
    };
  }

  /** Starts a submission with what is known already. */
  async create<Fields extends object = Record<string, unknown>>(
    intakeId: string,
    fields: Partial<Fields> = {},
    options: CreateOptions = {},
  ): Promise<Submission<Fields>> {
    const { idempotencyKey = newIdempotencyKey(), ttlMs, signal, actor = this.#options.actor } = options;
    const answer = await this.request<CreateSubmissionResponse>({
      method: "POST",
      path: `/intakes/${encodeURIComponent(intakeId)}/submissions`,
      route: "/intakes/{id}/submissions",
      body: { initialFields: fields, idempotencyKey, ...(ttlMs !== undefined && { ttlMs }), ...(actor && { actor }) },
      repeatable: true,
      signal,
    });
    return new Submission<Fields>(this.#access, answer, actor);
  }

  /** An existing submission: by its token, or by its id for a key or session that may see it. Sends nothing yet. */
  submission<Fields extends object = Record<string, unknown>>(
    where: { resumeToken: string; submissionId?: string } | { submissionId: string; version?: number },
  ): Submission<Fields> {
    return new Submission<Fields>(this.#access, where, this.#options.actor);
  }

  /**
   * Exchanges the secret of a hand-off link, or a code with the address it was sent to, for a session. With `carrier:
   * "header"` the client that is returned carries the session; otherwise the browser keeps it in a cookie.
   */
  async openSession<Fields extends object = Record<string, unknown>>(
    submissionId: string,
    request: OpenSessionRequest,
    { signal }: CallOptions = {},
  ): Promise<{ opened: OpenSessionResponse; client: FormBridgeClient; submission: Submission<Fields> }> {
    const opened = await this.request<OpenSessionResponse>({
      method: "POST",
      path: `/submissions/${encodeURIComponent(submissionId)}/sessions`,
      route: "/submissions/{id}/sessions",
      body: request,
      repeatable: false,
      signal,
    });
    const { session } = opened;
    const { apiKey: _key, actor: _actor, ...rest } = this.#options;
    const client = new FormBridgeClient({ ...rest, ...(session !== undefined && { session }) });
    return { opened, client, submission: client.submission<Fields>({ submissionId, version: opened.version }) };
  }

  /** `language`: names and descriptions in it, where the definitions have them. */
  async intakes({ signal, ...query }: CallOptions & { language?: string } = {}): Promise<ListIntakesResponse> {
    return await this.request({ method: "GET", path: "/intakes", route: "/intakes", query, repeatable: true, signal });
  }

  async intake(intakeId: string, { signal }: CallOptions = {}): Promise<IntakeResponse> {
    const path = `/intakes/${encodeURIComponent(intakeId)}`;
    return await this.request({ method: "GET", path, route: "/intakes/{id}", repeatable: true, signal });
  }

  /** All submissions that match, newest first. Loads page after page as they are consumed. */
  async *submissions({ signal, ...query }: ListOptions = {}): AsyncGenerator<SubmissionSummary, void, undefined> {
    let page: ListSubmissionsResponse;
    let pageToken: string | undefined;
    do {
      // A page token contains the whole query.
      const asked = pageToken === undefined ? query : { pageToken };
      const call = { method: "GET", path: "/submissions", route: "/submissions", repeatable: true } as const;
      page = await this.request<ListSubmissionsResponse>({ ...call, query: { ...asked }, signal });
      yield* page.items;
      pageToken = page.nextPageToken;
    } while (pageToken !== undefined);
  }

  /** What waits for this reviewer. */
  async reviews({ signal, ...query }: CallOptions & { limit?: number; pageToken?: string } = {}) {
    const call = { method: "GET", path: "/reviews", route: "/reviews", repeatable: true } as const;
    return await this.request<ListReviewsResponse>({ ...call, query, signal });
  }

  /** Decides as the reviewer that the key names. */
  async review(submissionId: string, body: Decision, { signal }: CallOptions = {}): Promise<ReviewResponse> {
    const path = `/submissions/${encodeURIComponent(submissionId)}/review`;
    return await this.request({
      method: "POST",
      path,
      route: "/submissions/{id}/review",
      body,
      repeatable: false,
      signal,
    });
  }

  /** Any other call of the API, with this client's credentials, time limits and retries. */
  async request<Answer>(request: Request): Promise<Answer> {
    return await this.#access.transport.send<Answer>(request);
  }
}

export const createClient = (options: ClientOptions): FormBridgeClient => new FormBridgeClient(options);
