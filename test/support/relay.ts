import { connect, createServer, type Socket } from "node:net";

/** A TCP relay to a server that a test can cut, stall and restore. */
export interface Relay {
  port: number;
  cut(): Promise<void>;
  stall(): void;
  mend(): Promise<void>;
  connections(): number;
  close(): Promise<void>;
}

export async function startRelay(target: { host: string; port: number }): Promise<Relay> {
  const open = new Set<Socket>();
  let stalled = false;
  const server = createServer((incoming) => {
    const onward = connect(target);
    open.add(incoming);
    for (const [one, other] of [
      [incoming, onward],
      [onward, incoming],
    ] as const) {
      one.on("data", (part) => {
        if (!stalled) other.write(part);
      });
      one.on("error", () => {});
      one.on("close", () => {
        open.delete(incoming);
        other.destroy();
      });
    }
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const { port } = server.address() as { port: number };
  const cut = async () => {
    const closed = new Promise<unknown>((resolve) => server.close(resolve));
    for (const socket of open) socket.destroy();
    await closed;
  };
  return {
    port,
    cut,
    stall: () => {
      stalled = true;
    },
    async mend() {
      stalled = false;
      if (!server.listening) await listen(port);
    },
    connections: () => open.size,
    close: async () => {
      if (server.listening) await cut();
    },
  };
}
