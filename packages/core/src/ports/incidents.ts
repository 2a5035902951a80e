import type { AlarmKind, IncidentState } from "@formbridge/contract";
import type { Block, Incident } from "../domain/alarms/incident.ts";
import type { Hash } from "../domain/hashing.ts";
import type { Instant } from "../domain/instant.ts";

export interface IncidentFilter {
  tenant: string;
  state?: IncidentState | undefined;
  kind?: AlarmKind | undefined;
  submissionId?: string | undefined;
}

/** Alarms that tripped. */
export interface Incidents {
  /** False, without effect, if there is one with the same cause and number: another instance was first. */
  add(incident: Incident): Promise<boolean>;
  get(where: { tenant: string; incidentId: string }): Promise<Incident | undefined>;
  /** The one with the highest number. */
  latest(cause: Hash): Promise<Incident | undefined>;
  /** Replaces the incident with this id and the previous revision; false if there is none. */
  update(incident: Incident): Promise<boolean>;
  /** Newest first, before the id `after`. */
  list(where: IncidentFilter & { after?: string | undefined }, limit: number): Promise<Incident[]>;
  /** The number that a whole list has, counted up to `atMost`. */
  count(where: IncidentFilter, atMost: number): Promise<number>;
  /** Those whose responses are due before `before`, oldest first, of all tenants. */
  due(before: Instant, limit: number): Promise<Incident[]>;
  /** Removes closed ones that were last seen before `before`; returns how many. */
  forget(before: Instant, limit: number): Promise<number>;
}

/** Networks whose calls are refused. */
export interface Blocks {
  /** Does nothing if the id exists. */
  add(block: Block): Promise<void>;
  /** Removes it; false if there is none. */
  remove(where: { tenant: string; blockId: string }): Promise<boolean>;
  /** Those that end after `from`, by id, after the id `after`; without a tenant, those of all. */
  list(where: { tenant?: string; after?: string | undefined; from: Instant }, limit: number): Promise<Block[]>;
  /** Removes those that ended before `before`; returns how many. */
  forget(before: Instant, limit: number): Promise<number>;
}
