import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { until } from "../support/moves.ts";
import { accountFor, findProgram, freePort } from "../support/services/programs.ts";

const CONFIG = join(import.meta.dirname, "../../examples/deploy/haproxy.cfg");
let port: number;
let proxy: ReturnType<ReturnType<typeof accountFor>["start"]>;

/** HAProxy as documented, with nothing behind it: every response is its own. */
beforeAll(async () => {
  port = await freePort();
  const nobody = `127.0.0.1:${await freePort()}`;
  proxy = accountFor("root").start(findProgram("haproxy", "haproxy"), ["-db", "-f", CONFIG], {
    env: {
      PATH: process.env.PATH,
      HAPROXY_BIND: `127.0.0.1:${port}`,
      FORMBRIDGE_ONE: nobody,
      FORMBRIDGE_TWO: nobody,
      FORMBRIDGE_THREE: nobody,
    },
    lastSignal: "KILL",
  });
  await until(async () => (await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)) && true);
});
afterAll(() => {
  proxy.kill("SIGTERM");
});

async function answerTo(request: string): Promise<{ status: number; type: string; body: string }> {
  const socket = connect(port, "127.0.0.1");
  socket.end(request);
  const [head = "", body = ""] = (await text(socket)).split("\r\n\r\n");
  return {
    status: Number(head.split(" ")[1]),
    type: /^content-type: *(.*)$/im.exec(head)?.[1] ?? "",
    body,
  };
}

it("[AUDIT-F31] the proxy responds for instances that are down with the contract's envelope", async () => {
  const { status, type, body } = await answerTo("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  expect([status, type]).toEqual([503, "application/json"]);
  expect(JSON.parse(body)).toMatchObject({ ok: false, error: { type: "service_unavailable", retryable: true } });
});

it.each(["nonsense\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nbro ken: 1\r\n\r\n"])(
  "[AUDIT-F31] input that is not HTTP gets the proxy's own page, as docs/how-to/deploy.md says (%j)",
  async (request) => {
    expect(await answerTo(request)).toMatchObject({ status: 400, type: "text/html" });
    const page = readFileSync(join(import.meta.dirname, "../../docs/how-to/deploy.md"), "utf8");
    expect(page).toContain("HAProxy's own 400 or 408, a short HTML page");
  },
);
