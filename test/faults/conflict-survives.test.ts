import { expect, it } from "vitest";
import { startServerProcess, tempFolder } from "../support/child.ts";
import { caller, minimalIntake } from "../support/harness.ts";
import { created, eventsOf, setFields, typesOf } from "../support/moves.ts";

it("[AUDIT-F29] a conflict that was returned is in the history of a server that was killed right after", async () => {
  const folder = tempFolder();
  const adminKey = `fbk_${"k".repeat(43)}`;
  const env = { FORMBRIDGE_DATA: folder.path, FORMBRIDGE_ADMIN_KEY: adminKey };
  const server = await startServerProcess(env);
  const call = caller(server.url);
  await call("PUT", "/intakes/forms", { key: adminKey, body: minimalIntake("forms") });
  const { resumeToken, submissionId } = await created({ call }, "forms");
  await setFields({ call }, resumeToken, { name: "Ada" });
  const refused = await setFields({ call }, resumeToken, { name: "Eve" });
  await server.kill();
  expect(refused.status).toBe(409);

  const next = await startServerProcess(env);
  const events = await eventsOf({ call: caller(next.url), adminKey }, submissionId, "types=token.conflict");
  expect(typesOf(events)).toEqual(["token.conflict"]);
  await next.stop();
  folder.remove();
});
