import { inWords } from "../../probe/calls.ts";
import { newKey } from "../../probe/run-probe.ts";
import { type Fault, isGood, persist, times } from "../fault.ts";
import { follow, setBody, setPath, start } from "../moves.ts";

const AT_ONCE = 20;
const CONFLICT = 409;

/** Writers that don't know of each other, and one that comes too late. */
export const rivals: Fault[] = [
  {
    name: "20 writers with the same token",
    async run(scene) {
      const entry = await start(scene, "to be contested");
      const path = setPath(entry);
      const textOf = (index: number): string => `${scene.run} rival ${index}`;
      const answers = await times(AT_ONCE, (index) =>
        persist(() => scene.call("PATCH", path, { body: setBody(scene, textOf(index), newKey()) })),
      );
      const winners = [...answers.entries()].filter(([, answer]) => isGood(answer));
      const odd = answers.filter((answer) => !isGood(answer) && answer.status !== CONFLICT).map(inWords);
      for (const [index, answer] of winners) follow(entry, answer, textOf(index));
      const problems = winners.length === 1 ? odd : [`${winners.length} of them succeeded`, ...odd];
      return { tried: answers.length, problems };
    },
  },
  {
    name: "a stale token",
    async run(scene) {
      const entry = await start(scene, "to be outdated");
      const stale = { token: entry.token };
      const text = `${scene.run} newer`;
      const written = await persist(() =>
        scene.call("PATCH", setPath(entry), { body: setBody(scene, text, newKey()) }),
      );
      if (!isGood(written)) return { tried: 1, problems: [inWords(written)] };
      follow(entry, written, text);
      const late = await scene.call("PATCH", setPath(stale), { body: setBody(scene, "must not be kept", newKey()) });
      const gone = await scene.call("DELETE", `/resume/${stale.token}`, { body: {} });
      const problems = [late, gone].filter(({ status }) => status !== CONFLICT).map(inWords);
      return { tried: 3, problems };
    },
  },
];
