import { Command } from "commander";
import { readConfig } from "../config/config.ts";
import { settingsHelp } from "../config/settings.ts";
import type { RunningServer } from "../serve.ts";
import { print } from "./print.ts";
import { stopOnSignal } from "./stop-on-signal.ts";

export const serveCommand = (): Command =>
  new Command("serve")
    .description("Start the server. It is configured with environment variables; the defaults work.")
    .addHelpText("after", `\n${settingsHelp()}\n\nExample:\n  FORMBRIDGE_PORT=8080 formbridge serve`)
    .action(async () => {
      // Loaded here, because the other commands need no server.
      const { serve } = await import("../serve.ts");
      const server = await serve(readConfig());
      // Before printing that it listens: a program that waits for that line may stop the server right away.
      stopOnSignal(server);
      await greet(server);
    });

const EXAMPLE = { actor: { kind: "agent" as const, id: "my-agent" }, initialFields: { name: "Ada", topic: "sales" } };

/**
 * Prints the URL, the admin key if one was created, a call that works as printed, and a form that an agent has started.
 */
async function greet(server: RunningServer): Promise<void> {
  const { url, newAdminKey, core, metricsUrl } = server;
  print(`FormBridge is listening on ${url}  (API reference: ${url}/docs)`);
  if (metricsUrl !== undefined) print(`Metrics: ${metricsUrl}`);
  if (newAdminKey !== undefined) print(`Admin key, shown only this once: ${newAdminKey}`);
  const example = await core.backend.intakes.get("contact");
  if (example?.definition.access !== "public" || example.retired) return;
  // Only in a terminal: the link contains a token, and without a terminal the output may end up in a log.
  const form = process.stdout.isTTY ? await exampleForm(server) : undefined;
  if (form !== undefined) print(`Finish a form that an agent started: ${form}`);
  print("Try it:");
  const body = JSON.stringify(EXAMPLE);
  print(`  curl -s ${url}/intakes/contact/submissions -H 'content-type: application/json' -d '${body}'`);
}

/** The amount is left to a person. From 100 on, the team lead has to approve it. */
const FORM = {
  actor: { kind: "agent" as const, id: "shopping_bot" },
  initialFields: { item: "27-inch monitor", cost_center: "4100" },
};

/** How many examples to try before giving up on showing one. */
const EXAMPLES = 20;

/**
 * The link of an example that is still open. Its idempotency key makes it the same one at every start until somebody
 * has finished it.
 */
async function exampleForm({ core }: RunningServer): Promise<string | undefined> {
  for (let number = 1; number <= EXAMPLES; number++) {
    const idempotencyKey = `example-form-shown-at-the-start-${number}`;
    const call = { caller: { address: "127.0.0.1" }, intakeId: "purchase-request", request: FORM, idempotencyKey };
    const made = await core.operations.createSubmission(call).catch(() => undefined);
    if (made?.body.state === "in_progress" && made.body.resumeUrl !== undefined) return made.body.resumeUrl;
  }
  return undefined;
}
