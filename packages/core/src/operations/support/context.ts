import type { Deps } from "../deps.ts";
import type { AuditTrail } from "./audit-trail.ts";
import type { Catalog } from "./catalog.ts";

/** What operations share: their dependencies, and what is kept between calls. */
export interface Context {
  deps: Deps;
  catalog: Catalog;
  auditTrail: AuditTrail;
  traffic: Traffic;
}

/** What a sweep knows of everybody else: when an operation was last called, by `performance.now`. */
interface Traffic {
  lastCallAt: number;
}
