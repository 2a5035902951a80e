import { createRandomness } from "@formbridge/core";
import { inWords } from "../../probe/calls.ts";
import { newKey } from "../../probe/run-probe.ts";
import type { Fault } from "../fault.ts";
import { createBody, createPath, start } from "../moves.ts";

const REFUSED = new Set([401, 403, 404]);

/** Somebody with a key that nobody issued reads, writes and cancels. */
export const strangers: Fault = {
  name: "a stranger's key",
  async run(scene) {
    const { submissionId } = await start(scene, "not a stranger's");
    const key = createRandomness().apiKey();
    const path = `/submissions/${submissionId}`;
    const body = createBody(scene, `${scene.run} a stranger's`, newKey());
    const headers = { "if-match": '"1"' };
    const answers = [
      await scene.call("GET", path, { key }),
      await scene.call("GET", `${path}/events`, { key }),
      await scene.call("GET", "/submissions", { key }),
      await scene.call("POST", createPath(scene), { key, body }),
      await scene.call("PATCH", `${path}/fields`, { key, headers, body: { fields: { [scene.field]: "theirs" } } }),
      await scene.call("DELETE", path, { key, headers, body: {} }),
    ];
    return { tried: answers.length, problems: answers.filter(({ status }) => !REFUSED.has(status)).map(inWords) };
  },
};
