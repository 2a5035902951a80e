import { fixtures } from "@formbridge/conformance";
import type { Backend } from "@formbridge/core";
import { openPostgresBackend } from "@formbridge/store-postgres";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createMigratedDatabase, type TestDatabase } from "../../../test/support/services/postgres.ts";
import { emptied, optionsFor } from "./open.ts";

const { newApiKey, newIntake, TENANT } = fixtures;

let database: TestDatabase;
let here: Backend;
let elsewhere: Backend;
beforeAll(async () => {
  database = await createMigratedDatabase();
  here = await openPostgresBackend(optionsFor(database.url));
  elsewhere = await openPostgresBackend(optionsFor(database.url));
});
beforeEach(() => emptied(database));
afterAll(async () => {
  await here.close();
  await elsewhere.close();
  await database.close();
});

let other: Client;
beforeEach(async () => {
  other = new Client({ connectionString: database.url });
  await other.connect();
});
afterEach(() => other.end());

/** A key that this process has found before. */
async function knownKey() {
  const key = newApiKey();
  await elsewhere.keys.add(key);
  expect(await here.keys.find(key.hash)).toEqual(key);
  return key;
}
const digestOf = async (intake: string) => (await here.store.load({ by: { intake } })).definition?.digest;

describe("an API key or an intake that was read before", () => {
  it("changes at once with a change by another process", async () => {
    for (let round = 0; round < 20; round++) {
      const key = await knownKey();
      await elsewhere.keys.revoke({ tenant: TENANT, keyId: key.keyId });
      expect(await here.keys.find(key.hash)).toBeUndefined();
    }
    const first = newIntake("survey");
    const second = newIntake("survey", "2.0.0");
    await elsewhere.intakes.put(first, undefined);
    expect(await digestOf("survey")).toBe(first.digest);
    await elsewhere.intakes.put(second, first.digest);
    expect(await digestOf("survey")).toBe(second.digest);
    await elsewhere.intakes.retire({ tenant: TENANT, id: "survey" });
    expect(await digestOf("survey")).toBeUndefined();
  });

  it("changes with a manual change", async () => {
    const byHand = [
      "UPDATE formbridge.api_keys SET revoked = true",
      "DELETE FROM formbridge.api_keys",
      "TRUNCATE formbridge.api_keys",
    ];
    for (const sql of byHand) {
      const key = await knownKey();
      await other.query(sql);
      expect(await here.keys.find(key.hash)).toBeUndefined();
    }
  });

  it("stays until the change is committed, and if it never is", async () => {
    const key = await knownKey();
    await other.query("BEGIN; UPDATE formbridge.api_keys SET revoked = true");
    expect(await here.keys.find(key.hash)).toEqual(key);
    await other.query("ROLLBACK; BEGIN; UPDATE formbridge.api_keys SET revoked = true");
    expect(await here.keys.find(key.hash)).toEqual(key);
    await other.query("COMMIT");
    expect(await here.keys.find(key.hash)).toBeUndefined();
  });
});

it("two changes at the same time do not deadlock", async () => {
  await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const backend = index % 2 === 0 ? here : elsewhere;
      expect(await backend.keys.add(newApiKey())).toBe(true);
      expect(await backend.intakes.put(newIntake(`survey${index}`), undefined)).toBe("stored");
    }),
  );
});
