import type { preHandlerHookHandler } from "fastify";

/** A turn of the event loop costs microseconds and may bring more requests. */
const MAX_TURNS = 4;
/**
 * While the store works on these, the next ones are read. With a remote database, larger cohorts would just alternate
 * with it.
 */
const MAX_COHORT = 16;

/**
 * Requests that arrive together are processed step by step together.
 *
 *   parse · parse · parse ──▶ operation · operation · operation ──▶ one commit ──▶ response · response · response
 *
 * Processed one after the other, each request would find the caches of the processor filled by the step before. Here
 * each step runs for all of them before the next step begins, and their changes share a commit. The price: a request
 * that comes alone waits for two turns of the event loop.
 */
export function createCohorts(): preHandlerHookHandler {
  const waiting: (() => void)[] = [];
  let seen = 0;
  let turns = 0;

  function begin(): void {
    seen = 0;
    turns = 0;
    setImmediate(gather);
  }

  function gather(): void {
    const grows = waiting.length > seen && waiting.length < MAX_COHORT && turns < MAX_TURNS;
    if (grows) {
      seen = waiting.length;
      turns += 1;
      setImmediate(gather);
      return;
    }
    const cohort = waiting.splice(0, MAX_COHORT);
    if (waiting.length > 0) begin();
    for (const goOn of cohort) goOn();
  }

  return (_request, _reply, done) => {
    if (waiting.length === 0) begin();
    waiting.push(done);
  };
}
