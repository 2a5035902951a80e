/** Writes the files under `ops/` that are made from code: `node ops/make.ts`. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { business } from "./grafana/business.ts";
import { operations } from "./grafana/operations.ts";
import { build } from "./grafana/panels.ts";
import { security } from "./grafana/security.ts";
import { sloRules } from "./slo.ts";

/** Path under `ops/` → content. */
export const made = (): Record<string, string> => ({
  "prometheus/slo.rules.yml": sloRules(),
  "grafana/operations.json": build(operations),
  "grafana/security.json": build(security),
  "grafana/business.json": build(business),
});

if (import.meta.main) {
  for (const [path, text] of Object.entries(made())) writeFileSync(join(import.meta.dirname, path), text);
}
