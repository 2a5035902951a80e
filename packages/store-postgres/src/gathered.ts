import { StoreDown } from "@formbridge/core";
import type { Database, Statement } from "./database.ts";

/** The values that one question has; the statement gets an array of each, as long as there are questions. */
export type Question = readonly (string | null)[];
/** `place` is the question's, from 1. */
type Placed<Row> = Row & { place: number };

interface Asked<Row> {
  places: Map<string, number>;
  questions: Question[];
  answers: Promise<Placed<Row>[]>;
}

/** So many answers are held in memory at once, whatever callers ask. */
const MAX_QUESTIONS = 64;

/**
 * What is asked in one turn of the event loop, by however many callers, goes to the database as one statement. A round trip costs
 * both sides several times what one more row does. Whoever asks alone waits for nobody.
 *
 * The statement is sent after the last of them asked: each sees what was committed before it began. Equal questions are one.
 */
export function gatherQuestions<Row>(
  db: Database,
  statement: Statement,
): (question: Question) => Promise<Row | undefined> {
  let asked: Asked<Row> | undefined;

  function begin(): Asked<Row> {
    const questions: Question[] = [];
    const turnOver = new Promise<void>((resolve) => setImmediate(resolve));
    const answers = db.handIn(async ({ read }) => {
      await turnOver;
      if (asked?.questions === questions) asked = undefined;
      const columns = (questions[0] ?? []).map((_, column) => questions.map((question) => question[column] ?? null));
      return await read<Placed<Row>>(statement, columns);
    });
    return { places: new Map(), questions, answers };
  }

  return async (question) => {
    if (asked === undefined || asked.questions.length === MAX_QUESTIONS) asked = begin();
    const { places, questions, answers } = asked;
    const name = JSON.stringify(question);
    const place = places.get(name) ?? questions.push(question);
    places.set(name, place);
    return (await answers).find((row) => row.place === place);
  };
}

/** For statements that answer every question with a row. */
export function answered<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new StoreDown("the database gave no answer", "not_applied");
  return row;
}
