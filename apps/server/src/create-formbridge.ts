import type { IntakeDefinition } from "@formbridge/contract";
import type { Mailer, Operations } from "@formbridge/core";
import type { Callback } from "@formbridge/outbound";
import { readConfig } from "./config/config.ts";
import { checkIntakes } from "./intake-folder.ts";
import { serve } from "./serve.ts";

export interface FormBridgeOptions {
  /**
   * The settings of `formbridge serve`, by the same names (docs/reference/settings.md). The environment isn't read;
   * pass `process.env` to use it.
   */
  settings?: Readonly<Record<string, string | undefined>>;
  /** The intakes to serve, instead of the configured folder. */
  intakes?: readonly IntakeDefinition[];
  /**
   * The functions for destinations of kind `callback`, by the destination's name. Returning accepts the delivery;
   * throwing fails the attempt.
   */
  callbacks?: Readonly<Record<string, Callback>>;
  /** Sends e-mail instead of the configured mail server. */
  mailer?: Mailer;
  /** Looks up the country (ISO 3166-1 alpha-2) of an address, for the alarm about it. Must return at once. */
  countryOf?: (address: string) => string | undefined;
}

export interface FormBridge {
  /** The URL it listens on. */
  url: string;
  /** The URL of the metrics, if the settings give them their own port. */
  metricsUrl?: string;
  /** The admin key, if this start has created one. It isn't shown again. */
  adminKey?: string;
  /** Every operation of the contract, without HTTP. */
  operations: Operations;
  /** Stops accepting requests, finishes requests and jobs in flight, and releases everything. */
  stop(): Promise<void>;
}

/** Runs the whole server inside the calling program. */
export async function createFormBridge(options: FormBridgeOptions = {}): Promise<FormBridge> {
  const { settings = {}, intakes, callbacks, mailer, countryOf } = options;
  const config = readConfig(settings);
  const running = await serve(config, {
    role: "embedded",
    ...(intakes && { intakes: checkIntakes(intakes, { maxFields: config.settings.maxSchemaFields }) }),
    ...(callbacks && { callbacks }),
    ...(mailer && { mailer }),
    ...(countryOf && { countryOf }),
  });
  const { url, newAdminKey, core, metricsUrl } = running;
  return {
    url,
    ...(metricsUrl !== undefined && { metricsUrl }),
    ...(newAdminKey !== undefined && { adminKey: newAdminKey }),
    operations: core.operations,
    stop: running.stop,
  };
}
