import { createRandomness } from "@formbridge/core";
import { inWords } from "../../probe/calls.ts";
import { type Fault, times } from "../fault.ts";

const LOOKUPS = 200;
const REFUSED = new Set([403, 404, 429]);

/**
 * Somebody without a key guesses tokens. Every guess is refused, by not being found, by the rate limit, or because an alarm has blocked
 * the address; that is why this comes last.
 */
export const failedLookups: Fault = {
  name: "200 guessed tokens",
  async run(scene) {
    const answers = await times(LOOKUPS, () =>
      scene.call("GET", `/resume/${createRandomness().resumeToken()}`, { anonymous: true }),
    );
    const problems = answers.filter(({ status }) => !REFUSED.has(status)).map(inWords);
    const health = await scene.call("GET", "/healthz");
    return { tried: answers.length, problems: health.status === 200 ? problems : [...problems, inWords(health)] };
  },
};
