import { inWords } from "../../probe/calls.ts";
import type { Fault } from "../fault.ts";
import { setPath, start } from "../moves.ts";

const nested = (depth: number): string => `${'{"fields":'.repeat(depth)}{}${"}".repeat(depth)}`;
const isRefusal = (status: number): boolean => status >= 400 && status <= 499;

/** Bodies that no client should send. Each is refused, and changes nothing. */
export const brokenBodies: Fault = {
  name: "broken bodies",
  async run(scene) {
    const entry = await start(scene, "to stay as it is");
    const field = JSON.stringify(scene.field);
    const bodies = [
      "",
      "{",
      "null",
      "[]",
      '"text"',
      '{"fields":{',
      `{"fields":{${field}:"a"},"fields":{${field}:"b"}}`,
      `{"fields":{${field}:"a"},"unheardOf":1}`,
      '{"fields":{"__proto__":{"polluted":true}}}',
      nested(5_000),
      `{"fields":{${field}:"${"x".repeat(3_000_000)}"}}`,
      '{"fields":\u0000}',
    ];
    const problems: string[] = [];
    for (const [index, raw] of bodies.entries()) {
      const answer = await scene.call("PATCH", setPath(entry), { raw });
      if (!isRefusal(answer.status)) problems.push(`body ${index + 1}: ${inWords(answer)}`);
    }
    return { tried: bodies.length, problems };
  },
};
