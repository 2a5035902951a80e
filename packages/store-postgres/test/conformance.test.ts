import { describeBackend } from "@formbridge/conformance";
import { afterAll } from "vitest";
import { createMigratedDatabase } from "../../../test/support/services/postgres.ts";
import { openOn } from "./open.ts";

const database = await createMigratedDatabase();
const open = openOn(database, await database.fakeClock());
afterAll(database.close);

describeBackend(open);
