import { StoreDown } from "@formbridge/core";
import { type Statement, storable } from "@formbridge/store-sql";
import type { Database } from "./database.ts";

/** The parameters of one question: the columns of a row of the statement's parameter. */
export type Question = Readonly<Record<string, string | undefined>>;
/** `place` is the question's, from 0. */
export type Placed<Row> = Row & { place: number };

interface Asked<Row> {
  places: Map<string, number>;
  questions: Question[];
  answers: Promise<Placed<Row>[]>;
}

/** At most this many results are held in memory at once. */
const MAX_QUESTIONS = 64;

/**
 * Batches the lookups of one turn of the event loop into one statement, whose parameter is a JSON array of them: a round trip costs
 * both sides several times as much as one more row. Equal lookups are sent once.
 *
 * The statement is sent after the last lookup was added, so each lookup sees everything committed before it began.
 */
export function gatherQuestions<Row extends object>(
  db: Database,
  statement: Statement<Placed<Row>>,
): (question: Question) => Promise<Row | undefined> {
  let asked: Asked<Row> | undefined;

  function begin(): Asked<Row> {
    const questions: Question[] = [];
    const turnOver = new Promise<void>((resolve) => setImmediate(resolve));
    const answers = db.handIn(async ({ read }) => {
      await turnOver;
      if (asked?.questions === questions) asked = undefined;
      return await read(statement, [JSON.stringify(questions.map((question, place) => ({ place, ...question })))]);
    });
    return { places: new Map(), questions, answers };
  }

  return async (question) => {
    if (asked === undefined || asked.questions.length === MAX_QUESTIONS) asked = begin();
    const { places, questions, answers } = asked;
    const name = JSON.stringify(question);
    const place = places.get(name) ?? questions.push(findable(question)) - 1;
    places.set(name, place);
    return (await answers).find((row) => row.place === place);
  };
}

const findable = (question: Question): Question =>
  Object.fromEntries(Object.entries(question).map(([name, text]) => [name, text && storable(text)]));

/** For statements that return a row for every question. */
export function answered<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new StoreDown("the database returned no row", "not_applied");
  return row;
}
