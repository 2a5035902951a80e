import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { ContractError, errorBody } from "@formbridge/core";
import { statusOf } from "./error-map.ts";
import { requestId } from "./headers.ts";

/** A raw response, for a connection whose request couldn't be parsed. */
function rawAnswer(refusal: ContractError): string {
  const body = JSON.stringify(errorBody(refusal));
  const status = statusOf(refusal);
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId()}`,
    "cache-control: no-store",
    "connection: close",
    "",
    body,
  ].join("\r\n");
}

/** Requests that Node's parser rejects never reach a route; they get the same error envelope. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const refusal =
    error.code === "HPE_HEADER_OVERFLOW"
      ? new ContractError("headers_too_large", "The headers are too large. Send fewer or shorter ones.")
      : new ContractError("bad_request", "The request is not valid HTTP.");
  socket.end(rawAnswer(refusal));
}

/** By default Node responds to these with an empty body, or not at all. */
export function answerOddRequests(server: Server): void {
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    const refusal = new ContractError("bad_request", "The Expect header has an unsupported value. Leave it out.");
    response.writeHead(statusOf(refusal), {
      "content-type": "application/json; charset=utf-8",
      "x-request-id": requestId(request),
      connection: "close",
    });
    response.end(JSON.stringify(errorBody(refusal)));
  });
  server.on("connect", (_request: IncomingMessage, socket: Duplex) => {
    socket.end(rawAnswer(new ContractError("bad_request", "This server is not a proxy, so it refuses CONNECT.")));
  });
}
