/** What a readiness probe learns of a backend. Never throws: an unreachable backend is `healthy: false`. */
export interface Health {
  healthy: boolean;
  latencyMs: number;
  /** The backend's clock minus this process's, where they can differ. */
  clockSkewMs?: number;
  detail?: string;
  /** The server does its work without it as well. */
  optional?: boolean;
}
