import { Command } from "commander";
import { readConfig } from "../config/config.ts";
import { settingsHelp } from "../config/settings.ts";
import type { RunningServer } from "../serve.ts";
import { print } from "./print.ts";
import { keepHeapSteady } from "./steady-heap.ts";
import { stopOnSignal } from "./stop-on-signal.ts";

export const serveCommand = (): Command =>
  new Command("serve")
    .description("Start the server. Everything is set by environment variables; the defaults work.")
    .addHelpText("after", `\n${settingsHelp()}\n\nExample:\n  FORMBRIDGE_PORT=8080 formbridge serve`)
    .action(async () => {
      keepHeapSteady();
      // Not before it is wanted: the other commands need no server.
      const { serve } = await import("../serve.ts");
      const server = await serve(readConfig());
      await greet(server);
      stopOnSignal(server);
    });

const EXAMPLE = `{"actor":{"kind":"agent","id":"my-agent"},"initialFields":{"name":"Ada","topic":"sales"}}`;

/** The URL, the admin key when one was made, and one line that works as printed. */
async function greet({ url, newAdminKey, core }: RunningServer): Promise<void> {
  print(`FormBridge is listening on ${url}  (API reference: ${url}/docs)`);
  if (newAdminKey !== undefined) print(`Admin key, shown this once: ${newAdminKey}`);
  const example = await core.backend.intakes.get("contact");
  if (example?.definition.access !== "public" || example.retired) return;
  print("Try it:");
  print(`  curl -s ${url}/intakes/contact/submissions -H 'content-type: application/json' -d '${EXAMPLE}'`);
}
