import { Client } from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createDatabase, type TestDatabase } from "../../../test/support/services/postgres.ts";
import { plainArray, type Texts, textArrayBytes, writeTextArray } from "../src/arrays.ts";

let database: TestDatabase;
let client: Client;
beforeAll(async () => {
  database = await createDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.close();
});

const readBack = async (type: string, value: unknown): Promise<unknown> =>
  (await client.query(`SELECT $1::${type}[] AS value`, [value])).rows[0]?.value;

function textArray(values: Texts): Buffer {
  const buffer = Buffer.alloc(textArrayBytes(values));
  expect(writeTextArray(values, buffer, 0)).toBe(buffer.length);
  return buffer;
}

it("texts arrive as they are, whatever is in them, and NULL is not the word", async () => {
  const texts = ["", "NULL", null, 'a "quote", a \\ and {braces}', "Åse 名前 🎉", "x".repeat(100_000)];
  expect(await readBack("text", textArray(texts))).toEqual(texts);
});

it("an array may be empty", async () => {
  expect(await readBack("text", textArray([]))).toEqual([]);
  expect(await readBack("bigint", plainArray([]))).toEqual([]);
});

it("half a surrogate pair is replaced, as in any other text", async () => {
  expect(await readBack("text", textArray(["\ud800"]))).toEqual(["\ufffd"]);
});

it("numbers and booleans arrive with their NULLs", async () => {
  expect(await readBack("integer", plainArray([1, null, -2]))).toEqual([1, null, -2]);
  expect(await readBack("boolean", plainArray([true, null, false]))).toEqual([true, null, false]);
});
