import type { FormBridgeError, Submission } from "@formbridge/client";
import type { IntakeEvent, SetFieldsResponse, SubmissionRecord, SubmitResponse } from "@formbridge/contract";
import { type FieldChange, type FieldPath, patchOf, type Typing } from "../engine/changes.ts";
import { type Edit, Edits, type Fields } from "./edits.ts";
import type { FormSessionOptions, FormState, Saving } from "./form-state.ts";
import { NewestRead } from "./newest-read.ts";
import { Outages } from "./outages.ts";
import { Pause } from "./pause.ts";
import { asKnown, holdRefused, meaningOf, resolveConflict, type Write } from "./refusals.ts";

/** A pause in typing after which it is saved. */
const PAUSE_MS = 400;
/** With a busy co-author it takes a few tries to win the race for a version. */
const MERGE_TRIES = 10;

/**
 * One person filling in one submission, while others may be doing the same. Shows every value at once, saves after each
 * pause with one write in flight, follows what others write, and holds back fields that both have changed until the
 * person has chosen. Nothing typed is dropped before the server has confirmed it.
 */
export class FormSession {
  readonly #options: FormSessionOptions;
  readonly #submission: Submission;
  readonly #listeners = new Set<() => void>();
  readonly #stopped = new AbortController();
  readonly #edits = new Edits();
  readonly #outages = new Outages();
  readonly #reads = new NewestRead(() => this.#read());
  readonly #saveSoon: Pause;
  readonly #releaseSoon: Pause;
  #record: SubmissionRecord;
  #state: FormState;
  #ended: FormBridgeError | undefined;
  #write: Promise<void> | undefined;
  #isSending = false;
  /** Text was typed that the form has not reported yet. */
  #isTyping = false;
  /** Something was refused, and the server did not say which edit: they are sent one by one. */
  #isSingling = false;

  private constructor(options: FormSessionOptions, record: SubmissionRecord) {
    this.#options = options;
    this.#submission = options.submission;
    this.#saveSoon = new Pause(options.later);
    this.#releaseSoon = new Pause(options.later);
    this.#record = record;
    this.#state = this.#snapshot();
  }

  /** Adopts what an earlier visit left unsaved, and starts to follow. `record` is the submission, if it was read already. */
  static async open(options: FormSessionOptions, record?: SubmissionRecord): Promise<FormSession> {
    const session = new FormSession(options, record ?? (await options.submission.read()));
    const { submissionId } = session.#record;
    await options.storage?.takeOver(submissionId, (edits) => session.#adopt(edits)).catch(() => {});
    session.#show();
    void session.#follow();
    return session;
  }

  get state(): FormState {
    return this.#state;
  }
  get submission(): Submission {
    return this.#submission;
  }
  /** The same; a `StartingSession` creates it first. */
  async started(): Promise<Submission> {
    return this.#submission;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Somebody has begun to type: what is shown is not saved any more, though there is nothing to send yet. */
  begin(typing: Typing): void {
    this.#edits.begin(typing, this.#fields);
    this.#isTyping = true;
    this.#show();
  }

  /** What was changed. Nothing, when something was typed and then typed back. */
  edit(changes: readonly FieldChange[]): void {
    this.#isTyping = false;
    this.#edits.change(changes, this.#fields);
    this.#keep();
    this.#schedule();
    this.#show();
  }

  /**
   * The focus is in a list, or has left it. While it is there the list is shown as it was: its items have no names, so
   * others' changes would move what is being typed.
   */
  focus(list: Typing["path"] | undefined): void {
    if (list !== undefined) this.#edits.hold(list, this.#fields);
    // What was typed last is reported after the focus has left.
    this.#releaseSoon.schedule(PAUSE_MS, () => {
      this.#edits.release(list, this.#fields);
      this.#show();
    });
  }

  choose(path: FieldPath, choice: "mine" | "theirs"): void {
    this.#edits.choose(path, choice);
    this.#keep();
    this.#schedule();
    this.#show();
  }

  /** Saves what can be saved now, and resolves when nothing is waiting or the network is gone. */
  async flush(): Promise<void> {
    do {
      this.#saveSoon.callOff();
      this.#write ??= this.#save().finally(() => {
        this.#write = undefined;
      });
      await this.#write;
    } while (this.#edits.ready().length > 0 && !this.#outages.isWriteFailing && this.#isOpen);
  }

  /** Submits what is saved. The state shows it at once; the rest of the record follows with the next read. */
  async submit(idempotencyKey: string): Promise<SubmitResponse> {
    const answer = await this.#submission.submit({ idempotencyKey });
    const { fields, state, version, submittedAt } = answer;
    if (version >= this.#record.version) this.#record = { ...this.#record, fields, state, version, submittedAt };
    this.#show();
    void this.refresh();
    return answer;
  }

  /** Reads again: after an upload, or when the page comes back to the front. */
  async refresh(): Promise<void> {
    await this.#reads.refresh();
  }

  /** What was typed and is not saved, by dotted path: to be copied out when it can't be saved any more. */
  unsaved(): Fields {
    return Object.fromEntries([...this.#edits].map(({ path, value }) => [path.join("."), value ?? null]));
  }

  /** Stops following and saving. What is not saved stays in storage. */
  close(): void {
    this.#saveSoon.callOff();
    this.#releaseSoon.callOff();
    this.#stopped.abort();
    this.#options.storage?.close?.();
  }

  get #fields(): Fields {
    return this.#record.fields ?? {};
  }
  get #isOpen(): boolean {
    return this.#ended === undefined && !this.#stopped.signal.aborted;
  }

  #adopt(edits: Edit[]): Edit[] {
    if (!this.#isOpen) return edits;
    const left = this.#edits.adopt(edits, this.#fields);
    this.#keep();
    if (this.#edits.size > 0) this.#schedule();
    this.#show();
    return left;
  }

  async #save(): Promise<void> {
    this.#edits.meet(this.#fields);
    const ready = this.#edits.ready();
    if (ready.length === 0) this.#isSingling = false;
    const sent = this.#isSingling ? ready.slice(0, 1) : ready;
    if (!this.#isOpen) return;
    if (sent.length === 0) {
      this.#show();
      return;
    }
    this.#edits.send(sent);
    this.#keep();
    this.#isSending = true;
    this.#show();
    const write: Write = { sent, dropped: new Set() };
    try {
      const answer = await this.#submission.set(patchOf(sent), {
        base: this.#fields,
        mergeTries: MERGE_TRIES,
        resolve: (conflict) => resolveConflict(conflict, { ...write, edits: this.#edits, fields: this.#fields }),
        signal: this.#stopped.signal,
      });
      this.#isSending = false;
      this.#stored(answer, write);
    } catch (error) {
      this.#isSending = false;
      this.#failed(error, sent);
      return;
    }
    await this.refresh();
  }

  #stored(answer: SetFieldsResponse, { sent, dropped }: Write): void {
    const { fields, missingFields, validationErrors, state, version } = answer;
    this.#outages.end("write");
    if (version >= this.#record.version) {
      this.#record = { ...this.#record, fields, missingFields, validationErrors, state, version };
    }
    this.#edits.confirm(sent.filter((edit) => !dropped.has(edit)));
    this.#edits.unsend([...dropped], "all");
    this.#edits.meet(this.#fields);
    this.#keep();
    this.#show();
  }

  #failed(reason: unknown, sent?: Edit[]): void {
    if (this.#stopped.signal.aborted) return;
    const error = asKnown(reason);
    const meaning = meaningOf(error, { hasToken: this.#submission.resumeToken !== undefined });
    if (meaning === "content" && sent !== undefined) {
      this.#refuse(error, sent);
      return;
    }
    if (meaning === "later") {
      const delay = this.#outages.record(sent === undefined ? "read" : "write", error);
      this.#show();
      this.#schedule(delay);
      return;
    }
    if (sent !== undefined) this.#edits.unsend(sent, "last");
    this.#ended = error;
    this.#keep();
    this.#show();
  }

  #refuse(error: FormBridgeError, sent: readonly Edit[]): void {
    this.#outages.end("write");
    if (holdRefused(error, sent, this.#edits)) this.#isSingling = true;
    this.#keep();
    this.#show();
  }

  get #saving(): Saving {
    if (this.#ended !== undefined) return "offline";
    if (this.#isSending) return "saving";
    if (this.#outages.isOffline) return "offline";
    return this.#edits.size > 0 || this.#isTyping ? "waiting" : "saved";
  }

  #schedule(ms = PAUSE_MS): void {
    if (this.#isOpen) this.#saveSoon.schedule(ms, () => void this.#goOn());
  }

  async #goOn(): Promise<void> {
    await this.flush();
    if (this.#reads.isDue) await this.refresh();
  }

  async #follow(): Promise<void> {
    try {
      for await (const event of this.#submission.watch({ signal: this.#stopped.signal })) {
        // Not awaited: events that arrive during a read cause one more, however many they are.
        if (this.#isNews(event)) void this.refresh();
      }
      await this.refresh();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** The stream starts with the history. What the record already shows needs no read. */
  #isNews({ version, type, ts }: Pick<IntakeEvent, "version" | "type" | "ts">): boolean {
    return version > this.#record.version || !(type.startsWith("field.") || ts <= this.#record.updatedAt);
  }

  /** False: it failed, and is due again. */
  async #read(): Promise<boolean> {
    if (this.#stopped.signal.aborted) return true;
    try {
      this.#take(await this.#submission.read({ signal: this.#stopped.signal }));
      return true;
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }

  #take(record: SubmissionRecord): void {
    this.#outages.end("read");
    if (record.version < this.#record.version) return;
    // A rejected submission can be changed again.
    if (record.version > this.#record.version && this.#ended !== undefined) this.#reopen();
    this.#record = record;
    this.#edits.meet(this.#fields);
    this.#keep();
    this.#show();
  }

  #reopen(): void {
    this.#ended = undefined;
    if (this.#edits.size > 0) this.#schedule();
  }

  #keep(): void {
    const { storage, isSensitive } = this.#options;
    storage?.save(
      this.#record.submissionId,
      [...this.#edits].filter(({ path }) => isSensitive?.(path) !== true),
    );
  }

  #snapshot(): FormState {
    const { resumeToken } = this.#submission;
    return {
      record: this.#record,
      fields: this.#edits.over(this.#fields),
      saving: this.#saving,
      conflicts: this.#edits.conflicts(),
      refused: this.#edits.refused(),
      ...(resumeToken !== undefined && { resumeToken }),
      ...(this.#ended && { ended: this.#ended }),
    };
  }

  #show(): void {
    this.#state = this.#snapshot();
    for (const listener of this.#listeners) listener();
  }
}
