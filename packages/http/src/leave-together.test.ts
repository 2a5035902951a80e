import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { leaveTogether } from "./leave-together.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer).on("connection", leaveTogether);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const waiting = (sockets: Socket[]): boolean[] => sockets.map(({ writableLength }) => writableLength > 0);

test("an answer waits on its socket until those made with it are made, and then all leave", async () => {
  const ready: Parameters<RequestListener>[1][] = [];
  const seen: boolean[][] = [];
  const url = await serve((_request, response) => {
    ready.push(response);
    if (ready.length < 3) return;
    const sockets = ready.map(({ socket }) => socket as Socket);
    for (const one of ready) {
      one.end("answer");
      seen.push(waiting(sockets));
    }
    setImmediate(() => seen.push(waiting(sockets)));
  });
  const answers = await Promise.all([1, 2, 3].map(async () => (await fetch(url)).text()));
  expect(answers).toEqual(["answer", "answer", "answer"]);
  expect(seen).toEqual([
    [true, false, false],
    [true, true, false],
    [true, true, true],
    [false, false, false],
  ]);
});

test("what is written in parts, before the end and without one, leaves too", async () => {
  const url = await serve((_request, response) => {
    response.write("first ");
    response.write("second ");
    setImmediate(() => response.write("third"));
  });
  const reader = (await fetch(url)).body?.pipeThrough(new TextDecoderStream()).getReader();
  let read = "";
  while (!read.endsWith("third")) read += (await reader?.read())?.value ?? "";
  expect(read).toBe("first second third");
  await reader?.cancel();
});

test("an answer larger than any buffer, and one after which the connection closes, arrive whole", async () => {
  const large = "x".repeat(20_000_000);
  const url = await serve((_request, response) => response.end(large));
  const closing = await fetch(url, { headers: { connection: "close" } });
  expect((await closing.text()).length).toBe(large.length);
});

test("requests sent in one go on one connection are answered in their order", async () => {
  const url = await serve(({ url: path }, response) => response.end(`<${path}>`));
  const socket = connect(Number(new URL(url).port), "127.0.0.1").setEncoding("latin1");
  socket.write(["/a", "/b", "/c"].map((path) => `GET ${path} HTTP/1.1\r\nHost: here\r\n\r\n`).join(""));
  let read = "";
  for await (const chunk of socket) {
    read += chunk;
    if (read.includes("</c>")) break;
  }
  expect(read.match(/<\/.>/g)).toEqual(["</a>", "</b>", "</c>"]);
});
