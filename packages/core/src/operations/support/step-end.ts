/**
 * Awaited where a step of an operation ends. Operations that began together then take each step together: what a step needs of
 * the processor's caches, its code and its tables, is brought there once for all of them, and not once for each.
 */
export const stepEnd: Promise<void> = Promise.resolve();
