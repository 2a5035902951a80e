import { connect, type Socket } from "node:net";

export interface HttpAnswer {
  status: number;
  body: string;
}

/**
 * One keep-alive connection with one request at a time, written on a bare socket: a client that parses no more than it needs
 * leaves the machine to the servers that it measures. Takes answers with a Content-Length only.
 */
export class Connection {
  readonly #socket: Socket;
  #received = "";
  #onAnswer: ((answer: HttpAnswer) => void) | undefined;

  private constructor(socket: Socket, onError: (error: Error) => void) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => this.#take(chunk));
    socket.on("error", onError);
    socket.on("close", () => {
      if (this.#onAnswer !== undefined) onError(new Error("the server closed the connection"));
    });
  }

  static open(port: number, onError: (error: Error) => void): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: "127.0.0.1" });
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.off("error", reject);
        resolve(new Connection(socket, onError));
      });
    });
  }

  send(request: string, onAnswer: (answer: HttpAnswer) => void): void {
    this.#onAnswer = onAnswer;
    this.#socket.write(request, "latin1");
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: string): void {
    this.#received = this.#received === "" ? chunk : this.#received + chunk;
    const end = this.#received.indexOf("\r\n\r\n");
    if (end === -1) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#received)?.[1]);
    const body = this.#received.slice(end + 4);
    if (body.length < length) return;
    const answer = { status: Number(this.#received.slice(9, 12)), body };
    const onAnswer = this.#onAnswer;
    this.#received = "";
    this.#onAnswer = undefined;
    onAnswer?.(answer);
  }
}
