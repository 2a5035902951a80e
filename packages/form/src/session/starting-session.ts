import { FormBridgeError, type Submission } from "@formbridge/client";
import type { Actor, SubmissionRecord, SubmitResponse } from "@formbridge/contract";
import { type FieldChange, type FieldPath, isObject, type Typing, withChange } from "../engine/changes.ts";
import type { JsonSchema } from "../engine/prepare-schema.ts";
import type { FormSession } from "./form-session.ts";
import type { FormState, Saving } from "./form-state.ts";

export interface StartingOptions {
  intake: { id: string; version: string; schema: JsonSchema };
  /** Creates the submission and opens it. Called again after a failure: use one idempotency key for all calls. */
  create(): Promise<FormSession>;
}

const RETRY_MS = 2_000;
const NOBODY: Actor = { kind: "human", id: "form" };

/**
 * A session whose submission is created by the first answer: showing a form writes nothing. From then on it is the
 * session that `create` opened.
 */
export class StartingSession {
  readonly #options: StartingOptions;
  readonly #listeners = new Set<() => void>();
  #changes: FieldChange[] = [];
  #state: FormState;
  #session: FormSession | undefined;
  #starting: Promise<FormSession> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(options: StartingOptions) {
    this.#options = options;
    const record = blankRecord(options.intake);
    this.#state = { record, fields: {}, saving: "saved", conflicts: [], refused: [] };
  }

  get state(): FormState {
    return this.#session?.state ?? this.#state;
  }

  get submission(): Submission {
    if (this.#session === undefined) throw new TypeError("The submission has not been started; call started().");
    return this.#session.submission;
  }

  /** Creates the submission if nobody has. */
  async started(): Promise<Submission> {
    return (await this.#start()).submission;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  begin(typing: Typing): void {
    if (this.#session !== undefined) this.#session.begin(typing);
    else this.#show({ saving: "waiting" });
  }

  edit(changes: readonly FieldChange[]): void {
    if (this.#session !== undefined) {
      this.#session.edit(changes);
      return;
    }
    this.#changes.push(...changes);
    let { fields } = this.#state;
    for (const change of changes) fields = withChange(fields, change);
    this.#show({ fields, saving: "waiting" });
    void this.#start().catch(() => {});
  }

  focus(list: Typing["path"] | undefined): void {
    this.#session?.focus(list);
  }

  choose(path: FieldPath, choice: "mine" | "theirs"): void {
    this.#session?.choose(path, choice);
  }

  async flush(): Promise<void> {
    if (this.#changes.length > 0) await this.#start();
    await this.#session?.flush();
  }

  async submit(idempotencyKey: string): Promise<SubmitResponse> {
    return await (await this.#start()).submit(idempotencyKey);
  }

  async refresh(): Promise<void> {
    await (await this.#start()).refresh();
  }

  unsaved(): Record<string, unknown> {
    if (this.#session !== undefined) return this.#session.unsaved();
    return Object.fromEntries(this.#changes.map(({ path, value }) => [path.join("."), value ?? null]));
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#session?.close();
  }

  async #start(): Promise<FormSession> {
    this.#starting ??= this.#create().catch((error: unknown) => {
      this.#starting = undefined;
      throw error;
    });
    return await this.#starting;
  }

  async #create(): Promise<FormSession> {
    clearTimeout(this.#retry);
    this.#show({ saving: "saving" });
    try {
      const session = await this.#options.create();
      session.edit(this.#changes);
      this.#changes = [];
      this.#session = session;
      session.subscribe(() => this.#notify());
      if (this.#isClosed) session.close();
      this.#notify();
      return session;
    } catch (error) {
      this.#failed(error);
      throw error;
    }
  }

  #failed(error: unknown): void {
    if (!(error instanceof FormBridgeError) || this.#isClosed) return;
    this.#show(error.retryable ? { saving: "offline" } : { saving: "offline", ended: error });
    if (error.retryable) this.#retry = setTimeout(() => void this.#start().catch(() => {}), RETRY_MS);
  }

  #show(change: Partial<Pick<FormState, "fields" | "ended">> & { saving: Saving }): void {
    this.#state = { ...this.#state, ...change };
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** What a submission looks like before it exists. */
function blankRecord({ id, version, schema }: StartingOptions["intake"]): SubmissionRecord {
  const now = new Date().toISOString();
  return {
    ok: true,
    submissionId: "",
    state: "draft",
    version: 0,
    intakeId: id,
    intakeVersion: version,
    fields: {},
    missingFields: requiredIn(schema),
    validationErrors: [],
    createdAt: now,
    updatedAt: now,
    originalTimestamp: now,
    createdBy: NOBODY,
    lastUpdatedBy: NOBODY,
    replayCount: 0,
  };
}

/** Every field that is required whatever the other answers are. The server reports the rest. */
function requiredIn(schema: JsonSchema, path: FieldPath = []): string[] {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  return required.flatMap((name) => {
    const member = properties[name];
    const isGroup = isObject(member) && isObject(member.properties);
    const inner = isGroup ? requiredIn(member, [...path, name]) : [];
    return inner.length > 0 ? inner : [[...path, name].join(".")];
  });
}
