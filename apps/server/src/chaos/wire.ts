import { request as requestInClear } from "node:http";
import { request as requestOverTls } from "node:https";
import { connect, type Socket } from "node:net";
import { connect as connectOverTls } from "node:tls";
import type { Scene } from "./fault.ts";

const isTls = (url: string): boolean => new URL(url).protocol === "https:";

/** Sends the first bytes of a request's body, or all of them, and closes the connection before any response. */
export function sendAndLeave(
  { url, key }: Scene,
  { method, path, body }: { method: string; path: string; body: object },
  share: number,
): Promise<void> {
  const content = Buffer.from(JSON.stringify(body));
  const begin = isTls(url) ? requestOverTls : requestInClear;
  return new Promise((resolve) => {
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "content-length": content.length,
    };
    const request = begin(url + path, { method, headers, agent: false });
    // Losing the connection is intended.
    request.on("error", () => {});
    request.on("close", resolve);
    request.write(content.subarray(0, Math.floor(content.length * share)), () => request.destroy());
  });
}

/** Opens a connection, sends the beginning of a request, and then nothing. */
export function holdOpen({ url }: Scene, beginning: string): Promise<Socket> {
  const { hostname: bracketed, port, host } = new URL(url);
  const hostname = bracketed.replace(/^\[|\]$/g, "");
  const text = beginning.replaceAll("{host}", host);
  return new Promise((resolve, reject) => {
    const opened = (): void => {
      socket.write(text);
      resolve(socket);
    };
    const socket = isTls(url)
      ? connectOverTls({ host: hostname, port: Number(port) || 443, servername: hostname }, opened)
      : connect({ host: hostname, port: Number(port) || 80 }, opened);
    socket.on("error", reject);
  });
}
