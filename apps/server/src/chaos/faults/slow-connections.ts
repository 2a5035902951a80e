import { inWords } from "../../probe/calls.ts";
import { newKey } from "../../probe/run-probe.ts";
import { type Fault, isGood } from "../fault.ts";
import { follow, setBody, setPath, start } from "../moves.ts";
import { holdOpen } from "../wire.ts";

const CONNECTIONS = 100;
const PATIENCE_MS = 5_000;
const BEGINNINGS = [
  "POST /mcp HTTP/1.1\r\nHost: {host}\r\nX-Slow: ",
  "POST /intakes/none/submissions HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
  "",
];

/** Clients that send half a request and then nothing must not keep others waiting. */
export const slowConnections: Fault = {
  name: "100 idle connections",
  async run(scene) {
    const entry = await start(scene, "beside slow ones");
    const problems: string[] = [];
    const opening = Array.from({ length: CONNECTIONS }, (_, index) =>
      holdOpen(scene, BEGINNINGS[index % BEGINNINGS.length] ?? ""),
    );
    const opened = (await Promise.allSettled(opening)).flatMap((one) =>
      one.status === "fulfilled" ? [one.value] : [],
    );
    try {
      const text = `${scene.run} beside slow ones`;
      const written = await scene.call("PATCH", setPath(entry), { body: setBody(scene, text, newKey()) });
      if (isGood(written)) follow(entry, written, text);
      else problems.push(inWords(written));
      if (written.ms > PATIENCE_MS) problems.push(`a write took ${Math.round(written.ms)} ms beside them`);
    } finally {
      for (const socket of opened) socket.destroy();
    }
    return { tried: opened.length + 1, problems };
  },
};
