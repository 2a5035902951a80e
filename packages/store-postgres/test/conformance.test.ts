import {
  describeDeadlines,
  describeDurability,
  describeEvents,
  describeHandoffs,
  describeIdempotency,
  describeIntakes,
  describeJobs,
  describeKeys,
  describeStore,
  describeSubmissions,
  describeTokens,
} from "@formbridge/conformance";
import { afterAll } from "vitest";
import { migratedDatabase, openOn } from "./open.ts";

const database = await migratedDatabase();
const open = openOn(database, await database.fakeClock());
afterAll(database.close);

describeStore(open);
describeTokens(open);
describeIdempotency(open);
describeEvents(open);
describeJobs(open);
describeDeadlines(open);
describeIntakes(open);
describeKeys(open);
describeSubmissions(open);
describeHandoffs(open);
describeDurability(open);
