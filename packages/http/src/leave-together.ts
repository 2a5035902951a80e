import type { Socket } from "node:net";
import type { FastifyReply } from "fastify";

const held: Socket[] = [];

/**
 * Holds an answer that is about to be sent until all that become ready with it are made: then they leave one right after the other,
 * and a caller who waits for many of them is woken once.
 */
export function leaveTogether({ raw: { socket } }: FastifyReply): void {
  if (socket === null) return;
  socket.cork();
  if (held.length === 0) process.nextTick(letGo);
  held.push(socket);
}

function letGo(): void {
  for (const socket of held.splice(0)) socket.uncork();
}
