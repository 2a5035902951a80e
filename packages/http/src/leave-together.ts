import type { Socket } from "node:net";
import { Writable } from "node:stream";

const { uncork } = Writable.prototype;
const held: Socket[] = [];

/**
 * Answers that are made in one go leave this socket and all others one right after the other, so that a caller who waits for many
 * of them is woken once.
 *
 * Node corks a socket while it writes an answer, and at the answer's end undoes every cork that it finds, ours too. So it is the
 * undoing that waits here until everything that is ready has been made.
 */
export function leaveTogether(socket: Socket): void {
  socket.uncork = hold;
}

function hold(this: Socket): void {
  if (held.length === 0) process.nextTick(letGo);
  // As often as it is asked for: each call takes back one cork.
  held.push(this);
}

function letGo(): void {
  for (const socket of held.splice(0)) uncork.call(socket);
}
