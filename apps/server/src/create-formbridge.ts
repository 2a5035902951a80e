import type { IntakeDefinition } from "@formbridge/contract";
import type { Mailer, Operations } from "@formbridge/core";
import type { Callback } from "@formbridge/couriers";
import { readConfig } from "./config/config.ts";
import { checkIntakes } from "./intake-folder.ts";
import { serve } from "./serve.ts";

export interface FormBridgeOptions {
  /**
   * The settings of `formbridge serve`, by the same names (docs/reference/settings.md). The environment is not read: pass
   * `process.env` to have it read.
   */
  settings?: Readonly<Record<string, string | undefined>>;
  /** The intakes to serve, in place of the folder that the settings name. */
  intakes?: readonly IntakeDefinition[];
  /** What destinations of kind `callback` call, by the destination's name. Returning takes the delivery; throwing fails the attempt. */
  callbacks?: Readonly<Record<string, Callback>>;
  /** Sends e-mail in place of the server that the settings name. */
  mailer?: Mailer;
}

export interface FormBridge {
  /** Where it listens. */
  url: string;
  /** The admin key, when this start has made one. It is not told again. */
  adminKey?: string;
  /** Every operation of the contract, without HTTP. */
  operations: Operations;
  /** Takes no more, finishes what was accepted and the jobs that run, and lets go of everything. */
  stop(): Promise<void>;
}

/** Runs the whole server inside the calling program. */
export async function createFormBridge(options: FormBridgeOptions = {}): Promise<FormBridge> {
  const { settings = {}, intakes, callbacks, mailer } = options;
  const config = readConfig(settings);
  const running = await serve(config, {
    ...(intakes && { intakes: checkIntakes(intakes, { maxFields: config.settings.maxSchemaFields }) }),
    ...(callbacks && { callbacks }),
    ...(mailer && { mailer }),
  });
  const { url, newAdminKey, core } = running;
  return {
    url,
    ...(newAdminKey !== undefined && { adminKey: newAdminKey }),
    operations: core.operations,
    stop: running.stop,
  };
}
