import type { SubmissionState } from "@formbridge/contract";
import { FormBridgeError } from "./error.ts";
import type { Telemetry } from "./options.ts";
import type { Request, Transport } from "./transport.ts";

/** What every response about a submission contains. */
export interface Mark {
  submissionId?: string;
  state?: SubmissionState;
  version?: number;
  resumeToken?: string;
}

export interface Access {
  transport: Transport;
  telemetry: Telemetry | undefined;
  /** An API key or session goes with every request: calls by id are possible. */
  hasCredential: boolean;
  hasKey: boolean;
}

export type Call = Omit<Request, "path" | "headers"> & {
  /** What follows the submission in the path, for example `/events`. */
  below: string;
  headers?: Record<string, string>;
};

/**
 * Where a submission is, and with which token or version the next call is made. Updated from every response. If the
 * token has lapsed or can't be looked up, it recovers where the API key allows it.
 */
export class Position {
  readonly #access: Access;
  submissionId: string | undefined;
  version: number | undefined;
  token: string | undefined;
  state: SubmissionState | undefined;

  constructor(access: Access, mark: Mark) {
    this.#access = access;
    this.submissionId = mark.submissionId;
    this.version = mark.version;
    this.token = mark.resumeToken;
    this.state = mark.state;
  }

  /** Takes over token and version from a response, unless a newer one was seen already. */
  follow(mark: Mark): void {
    this.submissionId ??= mark.submissionId;
    if (mark.version !== undefined && this.version !== undefined && mark.version < this.version) return;
    this.version = mark.version ?? this.version;
    this.state = mark.state ?? this.state;
    if (mark.resumeToken !== undefined) this.token = mark.resumeToken;
  }

  /**
   * Reads move nothing by themselves: a write must be made on a version whose fields its caller has seen, or it would
   * overwrite another writer's changes. A caller that uses the fields of a response must call `follow`.
   */
  async read<Answer extends Mark>(call: Call): Promise<Answer> {
    return await this.#recovering(async (byId) => {
      const answer = await this.#access.transport.send<Answer>({ ...call, path: this.readPath(byId) + call.below });
      this.submissionId ??= answer.submissionId;
      return answer;
    });
  }

  /**
   * A write on the version whose fields the caller has seen; a write that can't conflict may name another one.
   * The version goes with every try, also by id or with a reissued token: recovery must not skip what others wrote.
   */
  async write<Answer extends Mark>(call: Call, on = this.version): Promise<Answer> {
    const answer = await this.#recovering(async (byId) => {
      const headers = { ...call.headers, ...this.#condition(on, byId) };
      const path = this.#writePath(byId) + call.below;
      return await this.#access.transport.send<Answer>({ ...call, path, headers });
    });
    if (on === this.version || "fields" in answer) this.follow(answer);
    else this.takeToken(answer);
    return answer;
  }

  /** Takes over the token and nothing else: the fields of that version were not seen yet. */
  takeToken({ resumeToken }: Mark): void {
    if (resumeToken !== undefined) this.token = resumeToken;
  }

  readPath(byId = false): string {
    const { submissionId, token } = this;
    if (token !== undefined && !byId) return `/resume/${token}`;
    if (submissionId === undefined) throw new TypeError("A submission needs an id or a resume token.");
    return `/submissions/${encodeURIComponent(submissionId)}`;
  }

  /** By id wherever it is known: a token in a header is logged by fewer programs than one in a path. */
  #writePath(byId: boolean): string {
    return this.submissionId === undefined
      ? this.readPath(byId)
      : `/submissions/${encodeURIComponent(this.submissionId)}`;
  }

  #condition(version: number | undefined, byId: boolean): Record<string, string> {
    if (this.token === undefined || byId) return version === undefined ? {} : { "if-match": `"${version}"` };
    return { "if-match": `"${this.token}"`, ...(version !== undefined && { "x-intake-version": String(version) }) };
  }

  async #recovering<Answer>(call: (byId: boolean) => Promise<Answer>): Promise<Answer> {
    try {
      return await call(false);
    } catch (error) {
      if (!(error instanceof FormBridgeError) || this.token === undefined) throw error;
      this.submissionId ??= error.body?.submissionId;
      if (this.submissionId === undefined) throw error;
      const { hasCredential, hasKey, telemetry } = this.#access;
      if (error.type === "service_unavailable" && hasCredential && this.version !== undefined) {
        telemetry?.onRecovery?.({ kind: "by_id", submissionId: this.submissionId });
        return await call(true);
      }
      if (error.type === "token_expired" && error.detail?.canRecover === true && hasKey) {
        await this.reissue();
        return await call(false);
      }
      throw error;
    }
  }

  /** A new token in place of all that were issued before. Needs the creator's key, or an admin's. */
  async reissue(signal?: AbortSignal): Promise<void> {
    const { transport, telemetry } = this.#access;
    const { submissionId } = this;
    if (submissionId === undefined) throw new TypeError("A token is reissued by the submission's id.");
    const answer = await transport.send<Mark>({
      method: "POST",
      path: `/submissions/${encodeURIComponent(submissionId)}/tokens/reissue`,
      route: "/submissions/{id}/tokens/reissue",
      body: {},
      repeatable: false,
      signal,
    });
    this.takeToken(answer);
    telemetry?.onRecovery?.({ kind: "reissued", submissionId });
  }
}
