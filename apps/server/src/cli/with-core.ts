import { type Core, composeCore } from "../compose.ts";
import { type Config, readConfig } from "../config/config.ts";

/** Opens the configured stores for one command, and closes them after it. */
export async function withCore<Result>(work: (core: Core, config: Config) => Promise<Result>): Promise<Result> {
  const config = readConfig();
  const core = await composeCore(config);
  try {
    return await work(core, config);
  } finally {
    await core.backend.close();
  }
}
