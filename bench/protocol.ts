/** What the bench asks of its client process, and what it hears back. `mcp`: by a tool call in place of a request of its own. */
export type Load = (
  | { kind: "create"; apiKey: string }
  /** Each connection writes to its own share of the submissions, and carries their tokens on. */
  | { kind: "setFields"; tokens: string[] }
  | { kind: "read"; tokens: string[] }
  /** Create one, write to it, read it, leave it: for ever. */
  | { kind: "mixed"; apiKey: string }
) & { mcp?: true };

/** It ends by time, or after so many operations of each connection. */
export type Until = { seconds: number } | { operationsEach: number };

export interface Job {
  port: number;
  /** The connections are spread over all ports. */
  otherPorts?: number[];
  connections: number;
  until: Until;
  load: Load;
  /** Each connection sends one request in so many milliseconds; without it, the next one as soon as it is answered. */
  everyMs?: number;
  /** Every latency in the order of the answers, not only the percentiles. */
  keepLatencies?: true;
}

export interface JobResult {
  operations: number;
  seconds: number;
  /** In milliseconds. */
  p50: number;
  p99: number;
  /** Of one answer's body. */
  bytes: number;
  /** Share of one core that the client used: near 1, it was the client that was measured. */
  clientCpu: number;
  /** The tokens that are current now, in the order in which they were given or made. */
  tokens: string[];
  latencies?: number[];
}

export type Reply = { result: JobResult } | { error: string };
