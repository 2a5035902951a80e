import type { Client } from "./client-process.ts";
import { startOurs } from "./server-process.ts";

export interface Template {
  folder: string;
  /** Replaces the embedded file. */
  databaseUrl?: string;
  /** Writes to the one submission; each creates a token. */
  writes: number;
}

/** One submission, written by the product itself, as a template for copies. */
export async function writeTemplate(client: Client, { folder, databaseUrl, writes }: Template): Promise<void> {
  const server = await startOurs(folder, databaseUrl === undefined ? {} : { databaseUrl });
  try {
    const { port, apiKey } = server;
    const job = { port, connections: 1 };
    const created = await client.run({ ...job, until: { operationsEach: 1 }, load: { kind: "create", apiKey } });
    const load = { kind: "setFields" as const, tokens: created.tokens };
    if (writes > 1) await client.run({ ...job, until: { operationsEach: writes - 1 }, load });
  } finally {
    await server.stop();
  }
}
