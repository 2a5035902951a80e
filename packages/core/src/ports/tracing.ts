/** What a span says about its work: ids, hashes, names. Never a token, a key or a value. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * Where the time of a call goes, and how calls of different people and processes belong together. A position in a trace
 * is the text of a W3C `traceparent` header; a text that isn't one is ignored.
 */
export interface Tracing {
  /** False: all methods do nothing but the work they are given. */
  readonly isOn: boolean;
  /** Runs the work as a span below the current one. Without a current span it just runs. */
  span<T>(name: string, work: () => Promise<T>, attributes?: SpanAttributes): Promise<T>;
  /**
   * Runs the work as a span below the current one, or as this process's first of a trace: of the trace that `parent`
   * names, else of a new one. `alone`: not below the current span, for jobs that another call happened to wake.
   */
  entry<T>(name: string, work: () => Promise<T>, from?: { parent?: string | undefined; alone?: true }): Promise<T>;
  /** Adds to the current span. */
  describe(attributes: SpanAttributes): void;
  /** The current position, for others to continue from; undefined outside of a span. */
  traceparent(): string | undefined;
  /**
   * Continues the trace at this position, from the first span of this process on. If the caller named another trace, that
   * one is continued, and linked to this position.
   */
  join(traceparent: string | undefined): void;
  /** The current trace, if somebody exports it: a sampled one, or a caller's. */
  traceId(): string | undefined;
}

export const untraced: Tracing = {
  isOn: false,
  span: (_name, work) => work(),
  entry: (_name, work) => work(),
  describe: () => {},
  traceparent: () => undefined,
  join: () => {},
  traceId: () => undefined,
};

const SHOWN = 16;

/** The beginning of a hash, for traces and the log: enough to distinguish, and nothing more. */
export const shortHash = (hash: string): string => hash.slice(0, SHOWN);
