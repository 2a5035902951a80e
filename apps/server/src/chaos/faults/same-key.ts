import { type Answer, inWords } from "../../probe/calls.ts";
import { newKey } from "../../probe/run-probe.ts";
import { type Fault, isGood, type Outcome, persist, times } from "../fault.ts";
import { createBody, createPath, enter, follow, setBody, setPath, start } from "../moves.ts";

const AT_ONCE = 20;

/** All of them must have got the same response. */
function judge(answers: readonly Answer[]): Outcome {
  const bad = answers.filter((answer) => !isGood(answer)).map(inWords);
  const seen = new Set(answers.filter(isGood).map(({ body }) => `${body.submissionId} version ${body.version}`));
  const doubled = seen.size > 1 ? [`one key, ${seen.size} results: ${[...seen].join(", ")}`] : [];
  return { tried: answers.length, problems: [...bad, ...doubled] };
}

/** An impatient client sends its request many times at once. */
export const sameKey: Fault[] = [
  {
    name: "one create, sent 20 times at once",
    async run(scene) {
      const text = `${scene.run} same create`;
      const body = createBody(scene, text, newKey());
      const answers = await times(AT_ONCE, () => persist(() => scene.call("POST", createPath(scene), { body })));
      const made = answers.find(isGood);
      if (made !== undefined) enter(scene, made, text);
      return judge(answers);
    },
  },
  {
    name: "one write, sent 20 times at once",
    async run(scene) {
      const entry = await start(scene, "to be written");
      const path = setPath(entry);
      const text = `${scene.run} same write`;
      const body = setBody(scene, text, newKey());
      const answers = await times(AT_ONCE, () => persist(() => scene.call("PATCH", path, { body })));
      const written = answers.find(isGood);
      if (written !== undefined) follow(entry, written, text);
      return judge(answers);
    },
  },
  {
    name: "one submit, sent 20 times at once",
    async run(scene) {
      const entry = await start(scene, "to be submitted");
      const path = `/resume/${entry.token}/submit`;
      const body = { idempotencyKey: newKey() };
      const answers = await times(AT_ONCE, () => persist(() => scene.call("POST", path, { body })));
      const submitted = answers.find(isGood);
      if (submitted !== undefined) follow(entry, submitted);
      return judge(answers);
    },
  },
];
