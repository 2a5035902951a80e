import type {
  ActorInput,
  CancelResponse,
  ConfirmUploadResponse,
  CreateHandoffRequest,
  CreateHandoffResponse,
  FieldError,
  GetEventsResponse,
  GetSubmissionIntakeResponse,
  GetUploadResponse,
  IntakeEvent,
  ListHandoffsResponse,
  RequestUploadResponse,
  RetryDeliveryResponse,
  SetFieldsResponse,
  SubmissionRecord,
  SubmissionState,
  SubmitResponse,
  ValidateResponse,
} from "@formbridge/contract";
import { type Access, type Call, type Mark, Position } from "./access.ts";
import { FormBridgeError } from "./error.ts";
import { type CallOptions, type KeyedOptions, newIdempotencyKey } from "./options.ts";
import type { UploadTicket } from "./send-file.ts";
import { mergePatch, type SetOptions } from "./set-with-merge.ts";
import { type FileToSend, type FileUpload, startUpload, type UploadOptions } from "./upload.ts";
import { type WatchOptions, watchEvents } from "./watch.ts";

export interface Known {
  fields?: Record<string, unknown>;
  missingFields?: string[];
  validationErrors?: FieldError[];
}

/**
 * One submission, as this client last saw it. Keeps the token and version of the newest response, and sends one write
 * at a time, so that a program never conflicts with itself.
 */
export class Submission<Fields extends object = Record<string, unknown>> {
  readonly #access: Access;
  readonly #position: Position;
  readonly #actor: ActorInput | undefined;
  #fields: Record<string, unknown> = {};
  #missingFields: readonly string[] = [];
  #validationErrors: readonly FieldError[] = [];
  /** The last write, whether it worked or not: the next one starts after it. */
  #lastWrite: Promise<unknown> = Promise.resolve();

  constructor(access: Access, mark: Mark & Known, actor: ActorInput | undefined) {
    this.#access = access;
    this.#position = new Position(access, mark);
    this.#actor = actor;
    this.#learn(mark);
  }

  get id(): string {
    const { submissionId } = this.#position;
    if (submissionId === undefined) throw new TypeError("The id is known after the first response; call read().");
    return submissionId;
  }
  get state(): SubmissionState | undefined {
    return this.#position.state;
  }
  get version(): number | undefined {
    return this.#position.version;
  }
  /** Only for callers who may hold it. Treat it like a password. */
  get resumeToken(): string | undefined {
    return this.#position.token;
  }
  get fields(): Partial<Fields> {
    return this.#fields as Partial<Fields>;
  }
  get missingFields(): readonly string[] {
    return this.#missingFields;
  }
  get validationErrors(): readonly FieldError[] {
    return this.#validationErrors;
  }

  async read({ signal }: CallOptions = {}): Promise<SubmissionRecord> {
    const record = await this.#position.read<SubmissionRecord>({
      method: "GET",
      below: "",
      route: "/submissions/{id}",
      repeatable: true,
      signal,
    });
    this.#position.follow(record);
    this.#learn(record);
    return record;
  }

  /** What a form needs to render the submission, and in a session, who works in it. */
  async intake({ signal }: CallOptions = {}): Promise<GetSubmissionIntakeResponse> {
    const call = { method: "GET", below: "/intake", route: "/submissions/{id}/intake", repeatable: true } as const;
    return await this.#position.read<GetSubmissionIntakeResponse>({ ...call, signal });
  }

  /**
   * Sets fields: a merge patch, whose keys may be dot-paths. When somebody else wrote meanwhile and changed other
   * fields, the write is made again on top; fields that both changed go to `resolve`, or end in a `MergeConflictError`.
   */
  async set(fields: Partial<Fields> | Record<string, unknown>, options: SetOptions = {}): Promise<SetFieldsResponse> {
    return await this.#inTurn(() =>
      mergePatch({
        patch: fields as Record<string, unknown>,
        options,
        known: () => this.#fields,
        send: (patch, idempotencyKey) =>
          this.#send<SetFieldsResponse>("PATCH", "/fields", {
            body: { fields: patch, idempotencyKey },
            repeatable: true,
            signal: options.signal,
          }),
        refresh: (error) => this.#moveOn(error, options),
        onMerged: () =>
          this.#access.telemetry?.onRecovery?.({ kind: "merged", submissionId: this.#position.submissionId ?? "" }),
        unchanged: () => this.#asUnchanged(),
      }),
    );
  }

  async validate({ signal }: CallOptions = {}): Promise<ValidateResponse> {
    return await this.#addInTurn<ValidateResponse>("POST", "/validate", { body: {}, repeatable: true, signal });
  }

  /** Submits what is there. The key makes a retry safe: keep it when your program may restart in between. */
  async submit(options: KeyedOptions & { waitSeconds?: number } = {}): Promise<SubmitResponse> {
    const { idempotencyKey = newIdempotencyKey(), waitSeconds, signal } = options;
    return await this.#inTurn(() =>
      this.#send<SubmitResponse>("POST", "/submit", {
        body: { idempotencyKey },
        repeatable: true,
        signal,
        ...(waitSeconds !== undefined && { headers: { prefer: `wait=${waitSeconds}` } }),
      }),
    );
  }

  async cancel({ reason, signal }: CallOptions & { reason?: string } = {}): Promise<CancelResponse> {
    const body = reason === undefined ? {} : { reason };
    return await this.#inTurn(() => this.#send<CancelResponse>("DELETE", "", { body, repeatable: false, signal }));
  }

  /** Creates a link for a human. Version and token stay the same. */
  async handOff(request: Omit<CreateHandoffRequest, "actor"> = {}, { signal }: CallOptions = {}) {
    const body = { ...request };
    return await this.#addInTurn<CreateHandoffResponse>("POST", "/handoffs", { body, repeatable: false, signal });
  }

  async handoffs({ signal }: CallOptions = {}): Promise<ListHandoffsResponse["items"]> {
    const call = { method: "GET", below: "/handoffs", route: "/submissions/{id}/handoffs", repeatable: true } as const;
    return (await this.#position.read<ListHandoffsResponse>({ ...call, signal })).items;
  }

  /** Revokes every token issued so far and takes a new one. Needs the creator's key, or an admin's. */
  async reissueToken({ signal }: CallOptions = {}): Promise<void> {
    await this.#inTurn(() => this.#position.reissue(signal));
  }

  /** Announces a file, sends it in pieces that survive a broken connection, and has it checked. */
  upload(field: string, file: FileToSend, options: UploadOptions = {}): FileUpload {
    const { content, filename, mimeType = content.type || "application/octet-stream" } = file;
    const { sha256, signal } = options;
    const announced = { field, filename, mimeType, sizeBytes: content.size, ...(sha256 !== undefined && { sha256 }) };
    const announce = () =>
      this.#addInTurn<RequestUploadResponse>("POST", "/uploads", { body: announced, repeatable: false, signal });
    return startUpload(this.#uploadCalls(announce), content, options);
  }

  /** Continues an upload that was announced before, for example before a reload. */
  resumeUpload(ticket: UploadTicket, content: Blob, options: UploadOptions = {}): FileUpload {
    return startUpload(
      this.#uploadCalls(async () => ticket),
      content,
      options,
    );
  }

  /** A link to a file that was sent, for callers who may see it. */
  async file(uploadId: string, { signal }: CallOptions = {}): Promise<GetUploadResponse> {
    const below = `/uploads/${encodeURIComponent(uploadId)}`;
    const call = { method: "GET", route: "/submissions/{id}/uploads/{uploadId}", repeatable: true } as const;
    return await this.#position.read<GetUploadResponse>({ ...call, below, signal });
  }

  /** Reports that this person's part is done. */
  async completeHandoff(handoffId: string, { signal }: CallOptions = {}): Promise<void> {
    const below = `/handoffs/${encodeURIComponent(handoffId)}/complete`;
    await this.#addInTurn("POST", below, { body: {}, repeatable: true, signal });
  }

  /** Starts a failed delivery again. Needs the token, or the creator's or an admin's key. */
  async retryDelivery({ signal }: CallOptions = {}): Promise<RetryDeliveryResponse> {
    const below = "/deliveries/retry";
    return await this.#addInTurn<RetryDeliveryResponse>("POST", below, { body: {}, repeatable: false, signal });
  }

  async events(query: { afterEventId?: string; limit?: number; stream?: "all" } = {}, { signal }: CallOptions = {}) {
    const call = { method: "GET", below: "/events", route: "/submissions/{id}/events", repeatable: true } as const;
    return await this.#position.read<GetEventsResponse>({ ...call, query, signal });
  }

  /** The events as they are written, over reconnects. Ends with the submission or with the signal. */
  watch(options: WatchOptions = {}): AsyncGenerator<IntakeEvent, void, undefined> {
    return watchEvents(this.#access.transport, this.#position, options);
  }

  #uploadCalls(announce: () => Promise<UploadTicket>) {
    const below = (uploadId: string, rest = "") => `/uploads/${encodeURIComponent(uploadId)}${rest}`;
    return {
      transport: this.#access.transport,
      announce,
      confirm: (uploadId: string) =>
        this.#addInTurn<ConfirmUploadResponse>("POST", below(uploadId, "/confirm"), { body: {}, repeatable: false }),
      abandon: async (uploadId: string) => {
        await this.#addInTurn("DELETE", below(uploadId), { body: {}, repeatable: false });
      },
    };
  }

  /**
   * A write that can't conflict: if another write came first, it is repeated on the current version. What this
   * program has seen stays unchanged, so its next `set` is still merged with everything it hasn't seen.
   */
  async #addInTurn<Answer extends Mark>(method: Call["method"], below: string, sent: Sent): Promise<Answer> {
    return await this.#inTurn(async () => {
      let on = this.version;
      for (let tries = 1; ; tries++) {
        try {
          return await this.#send<Answer>(method, below, { ...sent, on });
        } catch (error) {
          const isStale = error instanceof FormBridgeError && error.type === "token_conflict";
          // Where the current version is not disclosed, nothing can be made on it.
          if (!isStale || tries > STALE_TRIES || error.body?.version === undefined) throw error;
          this.#position.takeToken(error.body);
          on = error.body.version;
        }
      }
    });
  }

  /** Takes over the version that won, together with its fields: the next write needs both or neither. */
  async #moveOn(error: FormBridgeError, { signal }: CallOptions): Promise<void> {
    const current = error.detail?.current;
    if (current === undefined) {
      this.#position.takeToken(error.body ?? {});
      await this.read(signal === undefined ? {} : { signal });
      return;
    }
    // Version and fields of the 409 belong together; a read may already return a newer version.
    this.#position.follow({ ...error.body, version: current.version });
    this.#learn(current);
  }

  async #send<Answer extends Mark>(
    method: Call["method"],
    below: string,
    { body, on = this.version, ...rest }: Sent & { on?: number | undefined },
  ): Promise<Answer> {
    const route = `/submissions/{id}${below.replace(/upl_[^/]+/, "{uploadId}").replace(/hof_[^/]+/, "{handoffId}")}`;
    const actor = this.#actor === undefined ? {} : { actor: this.#actor };
    const answer = await this.#position.write<Answer>(
      { method, below, route, body: { ...actor, ...body }, ...rest },
      on,
    );
    this.#learn(answer);
    return answer;
  }

  async #inTurn<Answer>(write: () => Promise<Answer>): Promise<Answer> {
    const turn = this.#lastWrite.then(write, write);
    this.#lastWrite = turn.catch(() => {});
    return await turn;
  }

  /** Fields of an older response, such as a replay, never replace newer ones. */
  #learn({ version, fields, missingFields, validationErrors }: Mark & Known): void {
    const isOld = version !== undefined && this.version !== undefined && version < this.version;
    if (isOld) return;
    if (fields !== undefined) this.#fields = fields;
    if (missingFields !== undefined) this.#missingFields = missingFields;
    if (validationErrors !== undefined) this.#validationErrors = validationErrors;
  }

  /** Nothing to write: the server already has these values. */
  async #asUnchanged(): Promise<SetFieldsResponse> {
    const { fields = {}, missingFields = [], validationErrors = [], ...record } = await this.read();
    const { submissionId, state, version, updatedAt, resumeToken } = record;
    const token = resumeToken === undefined ? {} : { resumeToken };
    const found = { fields, missingFields, validationErrors, updatedFields: [], updatedAt };
    return { ok: true, submissionId, state, version, ...token, ...found };
  }
}

interface Sent {
  body: object;
  repeatable: boolean;
  signal?: AbortSignal | undefined;
  headers?: Record<string, string>;
}

const STALE_TRIES = 10;
