import { describeBackend } from "@formbridge/conformance";
import { afterAll } from "vitest";
import { migratedDatabase, openOn } from "./open.ts";

const database = await migratedDatabase();
const open = openOn(database, await database.fakeClock());
afterAll(database.close);

describeBackend(open);
