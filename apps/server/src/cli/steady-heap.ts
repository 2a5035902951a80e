import { setFlagsFromString } from "node:v8";

/**
 * Has V8 collect whenever its heap has doubled. By itself, on a machine with much memory, it lets the heap grow to four times what is
 * alive, and gives little of that back: a busy server would become as large as its least lucky minute. See docs/decisions/0043.
 */
export function keepHeapSteady(): void {
  setFlagsFromString("--heap-growing-percent=100");
}
