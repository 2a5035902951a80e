/**
 * What the benchmark sends to its client process, and what comes back. `mcp`: use tool calls instead of HTTP requests.
 */
export type Load = (
  | { kind: "create"; apiKey: string }
  /** Each connection writes to its own share of the submissions, and keeps track of their tokens. */
  | { kind: "setFields"; tokens: string[] }
  | { kind: "read"; tokens: string[] }
  /** Create one, write to it, read it, leave it, repeat. */
  | { kind: "mixed"; apiKey: string }
) & { mcp?: true };

/** Ends after a time, or after this many operations per connection. */
export type Until = { seconds: number } | { operationsEach: number };

export interface Job {
  port: number;
  /** The connections are spread over all ports. */
  otherPorts?: number[];
  connections: number;
  until: Until;
  load: Load;
  /**
   * Each connection sends one request per this many milliseconds; by default, the next as soon as the previous one is
   * answered.
   */
  everyMs?: number;
  /** Every latency in the order of responses, not only the percentiles. */
  keepLatencies?: true;
}

export interface JobResult {
  operations: number;
  seconds: number;
  /** In milliseconds. */
  p50: number;
  p99: number;
  /** Size of one response body. */
  bytes: number;
  /** Share of one core that the client used: near 1, the client was the bottleneck. */
  clientCpu: number;
  /** The current tokens, in the order in which they were given or created. */
  tokens: string[];
  latencies?: number[];
}

export type Reply = { result: JobResult } | { error: string };
