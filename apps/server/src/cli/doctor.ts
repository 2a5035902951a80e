import { accessSync, constants, existsSync, statSync } from "node:fs";
import { loadKeys, placeOfKeys } from "@formbridge/auth-jwt";
import { Command } from "commander";
import { type Core, composeCore } from "../compose.ts";
import { type Config, readConfig } from "../config/config.ts";
import { ConfigError } from "../config/reader.ts";
import { isSecretLost, lostSecret, secretFile } from "../config/secret-file.ts";
import { problemLine, readIntakeFolder } from "../intake-folder.ts";
import { print } from "./print.ts";

interface Finding {
  ok: boolean;
  line: string;
}

const good = (line: string): Finding => ({ ok: true, line });
const bad = (line: string): Finding => ({ ok: false, line });

function checkIntakes({ intakesFolder, settings }: Config): Finding[] {
  if (!existsSync(intakesFolder)) return [bad(`the folder of intakes ${intakesFolder} doesn't exist`)];
  const { definitions, problems } = readIntakeFolder(intakesFolder, { maxFields: settings.maxSchemaFields });
  return [
    good(`${definitions.length} intakes in ${intakesFolder}`),
    ...problems.map((problem) => bad(problemLine(problem))),
  ];
}

function checkSecret(config: Config): Finding {
  const { secrets, database } = config;
  if (secrets.length > 0) return good("the secret is set by FORMBRIDGE_SECRET");
  if (isSecretLost(config)) return bad(lostSecret(config).message);
  const file = secretFile(config);
  if (database.kind === "memory" || !existsSync(file)) return good("the secret will be generated on the first start");
  const open = (statSync(file).mode & 0o077) !== 0;
  return open
    ? bad(`${file} can be read by others: chmod 600 it`)
    : good(`the secret is in ${file}; back it up with the database`);
}

function checkFolder({ dataFolder }: Config): Finding {
  if (!existsSync(dataFolder)) return good(`${dataFolder} will be created on the first start`);
  try {
    accessSync(dataFolder, constants.W_OK);
    return good(`${dataFolder} is writable`);
  } catch {
    return bad(`${dataFolder} is not writable`);
  }
}

async function checkStores(config: Config): Promise<Finding[]> {
  let core: Core;
  try {
    core = await composeCore(config);
  } catch (error) {
    if (error instanceof ConfigError) return [bad(error.message)];
    return [bad(`the database can't be opened: ${error instanceof Error ? error.message : String(error)}`)];
  }
  try {
    const stores = Object.entries(await core.health());
    return stores.map(([name, { healthy, latencyMs, clockSkewMs = 0, detail = "" }]) =>
      healthy
        ? good(`${name} responds in ${latencyMs.toFixed(1)} ms, its clock differs by ${clockSkewMs} ms`)
        : bad(`${name} does not answer ${detail}`),
    );
  } finally {
    await core.backend.close();
  }
}

/** Fetches every issuer's keys, as the first token would. */
async function checkIssuers({ jwt }: Config): Promise<Finding[]> {
  return await Promise.all(
    jwt.issuers.map(async (issuer) => {
      const where = `issuer ${issuer.name}: ${placeOfKeys(issuer)}`;
      try {
        const { size } = await loadKeys(issuer, jwt.keys);
        return good(`${where} has ${size} ${size === 1 ? "key" : "keys"}`);
      } catch (error) {
        return bad(`${where} provides no keys: ${error instanceof Error ? error.message : String(error)}`);
      }
    }),
  );
}

export const doctorCommand = (): Command =>
  new Command("doctor").description("Check everything that a start needs, and say what is wrong.").action(async () => {
    const config = readConfig();
    const findings = [
      good(`node ${process.version}`),
      checkFolder(config),
      checkSecret(config),
      ...checkIntakes(config),
      ...(await checkStores(config)),
      ...(await checkIssuers(config)),
    ];
    for (const { ok, line } of findings) print(`${ok ? "ok " : "BAD"} ${line}`);
    if (findings.some(({ ok }) => !ok)) process.exitCode = 1;
  });
