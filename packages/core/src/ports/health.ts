/** Result of a readiness probe. Probes never throw: an unreachable backend is `healthy: false`. */
export interface Health {
  healthy: boolean;
  latencyMs: number;
  /** The backend's clock minus this process's, where they can differ. */
  clockSkewMs?: number;
  detail?: string;
  /** The server works without it. */
  optional?: boolean;
}
