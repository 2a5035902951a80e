import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDatabase, type TestDatabase } from "../../../test/support/services/postgres.ts";
import { plainArray } from "../src/arrays.ts";
import { runSized, type Value } from "../src/sized-query.ts";

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

interface Asked {
  name: string;
  text: string;
  values?: Value[];
}
const ask = <Row extends object>({ values = [], ...statement }: Asked): Promise<Row[]> =>
  runSized<Row>(client, statement, values);

describe("a statement with measured values", () => {
  it("gives each value as it is, in its place, the first time and prepared", async () => {
    const statement = {
      name: "echo",
      text: "SELECT $1::text AS a, $2::text AS b, $3::int8[] AS c, $4::text[] AS d, $5 || $6::text AS e",
    };
    for (const text of ["", "NULL", "Åse 名前 🎉", "x".repeat(1_000_000)]) {
      for (const texts of [[], [text], ["first", null, text, ""]]) {
        const values = [null, text, plainArray([1, null]), texts, true, -1.5];
        expect(await ask({ ...statement, values })).toEqual([
          { a: null, b: text, c: ["1", null], d: texts, e: "true-1.5" },
        ]);
      }
    }
  });

  it("may have a name of more than ASCII, no values, and many rows", async () => {
    const statement = { name: "número", text: "SELECT n FROM generate_series(1, 1000) AS n" };
    expect(await ask(statement)).toHaveLength(1000);
    expect(await ask(statement)).toHaveLength(1000);
  });

  it("is refused alone: the connection goes on, with what it has prepared", async () => {
    const divide = { name: "divide", text: "SELECT 10 / $1::integer AS part" };
    expect(await ask({ ...divide, values: ["5"] })).toEqual([{ part: 2 }]);
    await expect(ask({ ...divide, values: ["0"] })).rejects.toMatchObject({ code: "22012" });
    await expect(ask({ ...divide, values: ["five"] })).rejects.toMatchObject({ code: "22P02" });
    await expect(ask({ ...divide, values: ["1", "2"] })).rejects.toMatchObject({ code: "08P01" });
    await expect(ask({ name: "broken", text: "SELEC" })).rejects.toMatchObject({ code: "42601" });
    expect(await ask({ ...divide, values: ["2"] })).toEqual([{ part: 5 }]);
  });
});

describe("an array", () => {
  const readBack = async (type: string, value: Value): Promise<unknown> =>
    (
      await ask<{ value: unknown }>({ name: `${type} array`, text: `SELECT $1::${type}[] AS value`, values: [value] })
    )[0]?.value;

  it("has its texts as they are, whatever is in them, and NULL is not the word", async () => {
    const texts = ["", "NULL", null, 'a "quote", a \\ and {braces}', "Åse 名前 🎉", "x".repeat(100_000)];
    expect(await readBack("text", texts)).toEqual(texts);
  });

  it("may be empty", async () => {
    expect(await readBack("text", [])).toEqual([]);
    expect(await readBack("bigint", plainArray([]))).toEqual([]);
  });

  it("has half a surrogate pair replaced, as in any other text", async () => {
    expect(await readBack("text", ["\ud800"])).toEqual(["\ufffd"]);
    expect(await readBack("text", ["\ud800", "after it"])).toEqual(["\ufffd", "after it"]);
  });

  it("has its numbers and booleans with their NULLs", async () => {
    expect(await readBack("integer", plainArray([1, null, -2]))).toEqual([1, null, -2]);
    expect(await readBack("boolean", plainArray([true, null, false]))).toEqual([true, null, false]);
  });
});
