import { inWords } from "../../probe/calls.ts";
import { newKey } from "../../probe/run-probe.ts";
import { type Fault, isGood, type Outcome, persist, type Scene } from "../fault.ts";
import { createBody, createPath, enter, follow, setBody, setPath, start } from "../moves.ts";
import { sendAndLeave } from "../wire.ts";

const ROUNDS = 10;
/** How much of each body is sent: some of it, almost all, all of it. */
const SHARES = [0.5, 0.95, 1];

/** The connection breaks, and the client retries with the same key: the request must be executed exactly once. */
async function createAgain(scene: Scene, round: number): Promise<string[]> {
  const text = `${scene.run} lost create ${round}`;
  const body = createBody(scene, text, newKey());
  const share = SHARES[round % SHARES.length] ?? 1;
  await sendAndLeave(scene, { method: "POST", path: createPath(scene), body }, share);
  const made = await persist(() => scene.call("POST", createPath(scene), { body }));
  if (!isGood(made)) return [inWords(made)];
  enter(scene, made, text);
  return [];
}

async function writeAgain(scene: Scene): Promise<Outcome> {
  const entry = await start(scene, "to be interrupted");
  const problems: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const text = `${scene.run} lost write ${round}`;
    const body = setBody(scene, text, newKey());
    const path = setPath(entry);
    await sendAndLeave(scene, { method: "PATCH", path, body }, SHARES[round % SHARES.length] ?? 1);
    const written = await persist(() => scene.call("PATCH", path, { body }));
    if (!isGood(written)) return { tried: 2 * (round + 1), problems: [inWords(written)] };
    if (Number(written.body.version) !== entry.version + 1) {
      problems.push(`version ${written.body.version} after one write on ${entry.version}`);
    }
    follow(entry, written, text);
  }
  return { tried: 2 * ROUNDS, problems };
}

export const lostConnections: Fault[] = [
  {
    name: "creates whose connection breaks",
    async run(scene) {
      const problems: string[] = [];
      for (let round = 0; round < ROUNDS; round++) problems.push(...(await createAgain(scene, round)));
      return { tried: 2 * ROUNDS, problems };
    },
  },
  { name: "writes whose connection breaks", run: writeAgain },
];
