import { tempFolder } from "../support/child.ts";
import { startTestServer, type TestServer } from "../support/harness.ts";
import { connectHost, type Host } from "../support/mcp.ts";
import { FILES_SCHEMA } from "../support/uploads.ts";

/** A server in memory that has only the intakes of the test. */
export async function emptyServer(env: Record<string, string> = {}): Promise<TestServer> {
  const folder = tempFolder();
  const server = await startTestServer({ store: "memory", env: { FORMBRIDGE_INTAKES: folder.path, ...env } });
  return {
    ...server,
    async stop() {
      await server.stop();
      folder.remove();
    },
  };
}

export interface Scene {
  server: TestServer;
  admin: Host;
  /** Without a key. */
  anybody: Host;
  stop(): Promise<void>;
}

/** Three intakes: one with all kinds of fields, one behind a key, one with files. */
export async function startScene(): Promise<Scene> {
  const server = await emptyServer();
  await server.putIntake({
    id: "trip_plan",
    name: "Trip",
    description: "Where to, and when.",
    schema: {
      type: "object",
      required: ["when", "to", "consent", "pin"],
      properties: {
        to: { type: "string", title: "Destination", description: "A town.", examples: ["Rome"] },
        when: { type: "string", format: "date" },
        consent: { type: "boolean", "x-fill": "human" },
        pin: { type: "string", "x-sensitive": true },
        notes: { type: "string" },
      },
    },
  });
  await server.putIntake({ id: "secret", access: "key" });
  await server.putIntake({ id: "files", schema: FILES_SCHEMA });
  const admin = await connectHost(server.url, { key: server.adminKey });
  const anybody = await connectHost(server.url);
  return {
    server,
    admin,
    anybody,
    async stop() {
      await Promise.all([admin.close(), anybody.close()]);
      await server.stop();
    },
  };
}
