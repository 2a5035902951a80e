import type { Instant, WebhookRef } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { createHandoffWriter } from "./handoffs.ts";
import { createIntakeWriter, type IntakeWrite } from "./intakes.ts";
import { createJobWriter, type HeldJob } from "./jobs.ts";
import { createKeyWriter, type KeyColumns } from "./keys.ts";
import { createRecordWriter } from "./records.ts";
import { createRemover } from "./retention.ts";
import { createReviewLinkWriter } from "./review-links.ts";
import { createTokenWriter } from "./tokens.ts";
import { createWebhookWriter } from "./webhooks.ts";

type Webhooks = ReturnType<typeof createWebhookWriter>;
type Outcome = Parameters<ReturnType<typeof createJobWriter>["settle"]>[1];

/** Every write that is no change of a submission. `at` is the moment of the group that it is written with. */
export function createCalls(db: Database) {
  const jobs = createJobWriter(db);
  const intakes = createIntakeWriter(db);
  const keys = createKeyWriter(db);
  const webhooks = createWebhookWriter(db);
  const tokens = createTokenWriter(db);
  const records = createRecordWriter(db);
  const handoffs = createHandoffWriter(db);
  const links = createReviewLinkWriter(db);
  const remove = createRemover(db);
  // Nobody reads this number: to set it writes a page and syncs it, as every commit does.
  const probe = db.prepare("PRAGMA user_version = 0");
  return {
    claimJobs: jobs.claim,
    settleJob: (_at: Instant, job: HeldJob, outcome: Outcome) => jobs.settle(job, outcome),
    putIntake: (at: Instant, intake: IntakeWrite, expect: string | undefined) => intakes.put(at, intake, expect),
    retireIntake: intakes.retire,
    addKey: (_at: Instant, key: KeyColumns) => keys.add(key),
    revokeKey: (_at: Instant, which: { tenant: string; keyId: string }) => keys.revoke(which),
    addWebhook: webhooks.add,
    updateWebhook: (_at: Instant, webhook: Parameters<Webhooks["update"]>[0]) => webhooks.update(webhook),
    enableWebhook: webhooks.enable,
    removeWebhook: (_at: Instant, which: WebhookRef) => webhooks.remove(which),
    claimWebhooks: webhooks.claim,
    settleWebhook: (_at: Instant, settled: Parameters<Webhooks["settle"]>[0]) => webhooks.settle(settled),
    forgetTokens: (_at: Instant, before: Instant, limit: number) => tokens.forgetExpired(before, limit),
    forgetRecords: records.forgetExpired,
    forgetHandoffs: (_at: Instant, before: Instant, limit: number) => handoffs.forgetExpired(before, limit),
    forgetReviewLinks: (_at: Instant, before: Instant, limit: number) => links.forgetExpired(before, limit),
    removeErased: (_at: Instant, before: Instant, limit: number) => remove(before, limit),
    probe: (_at: Instant) => void probe.run(),
  };
}

type Calls = ReturnType<typeof createCalls>;
export type CallName = keyof Calls;
export type CallArguments<Name extends CallName> =
  Parameters<Calls[Name]> extends [Instant, ...infer Rest] ? Rest : never;
export type CallAnswer<Name extends CallName> = ReturnType<Calls[Name]>;
