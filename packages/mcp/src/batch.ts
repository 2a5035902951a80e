/** The only protocol revision with batches. */
export const BATCH_REVISION = "2025-03-26";

/** A short request can have a long response, so a batch must not ask for thousands of them. */
const MAX_BATCH = 20;

export const TOO_MUCH = `A batch can have at most ${MAX_BATCH} messages, and can ask for a list only once.`;

/** Lists have the longest responses, and nobody needs the same list twice. */
export function isTooMuch(batch: readonly unknown[]): boolean {
  const methods = batch.map((message) => (message as { method?: unknown } | null)?.method);
  const lists = methods.filter((method) => typeof method === "string" && method.endsWith("/list"));
  return batch.length > MAX_BATCH || new Set(lists).size < lists.length;
}
