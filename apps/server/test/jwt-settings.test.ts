import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError, readConfig } from "@formbridge/server";
import { exportJWK } from "jose";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { runCommand, tempFolder } from "../../../test/support/child.ts";
import { startIssuer, type TestIssuer } from "../../../test/support/issuer.ts";
import { issuerSettings } from "../../../test/support/jwt-server.ts";

// Each command is a process that loads everything: a second on a quiet machine, several on a busy one.
vi.setConfig({ testTimeout: 120_000 });

const folder = tempFolder();
let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await startIssuer(Date.now);
});
afterAll(async () => {
  await issuer.stop();
  folder.remove();
});

const file = (name: string, value: unknown): string => {
  const path = join(folder.path, name);
  writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value));
  return path;
};
const setting = (over: Record<string, unknown> = {}): string => JSON.stringify([issuerSettings(issuer, over)]);
const fromFile = (jwksFile: string): string => setting({ jwksUri: undefined, jwksFile });
const refusal = (value: string) => (): unknown => readConfig({ FORMBRIDGE_JWT_ISSUERS: value });

describe("issuers", () => {
  it("[JWT-SETTINGS] are read from the variable, or from the file that it names", () => {
    const inline = readConfig({ FORMBRIDGE_JWT_ISSUERS: setting() }).jwt.issuers;
    expect(inline).toEqual([issuerSettings(issuer)]);
    expect(readConfig({ FORMBRIDGE_JWT_ISSUERS: file("issuers.json", setting()) }).jwt.issuers).toEqual(inline);
    expect(readConfig({}).jwt.issuers).toEqual([]);
  });

  it.each([
    ["[", "not valid JSON"],
    ["nowhere.json", "nowhere.json.*can't be read.*ENOENT"],
    ["[]", "fewer than 1"],
    [JSON.stringify([{ name: "x" }]), "^FORMBRIDGE_JWT_ISSUERS: 0 lacks issuer, audience"],
    ['[{"jwksUri":"https://u:pa55@id.example/"}]', "0 lacks name"],
  ])("[JWT-SETTINGS] %s stops the start", (value, words) => {
    expect(refusal(value)).toThrow(ConfigError);
    expect(refusal(value)).toThrow(new RegExp(words));
    expect(refusal(value)).toThrow(/FORMBRIDGE_JWT_ISSUERS.*it takes a JSON array/);
    expect(refusal(value)).not.toThrow(/pa55/);
  });

  it("[JWT-SETTINGS] an unsafe location for keys stops the start", () => {
    for (const jwksUri of ["http://id.example/jwks", "ftp://127.0.0.1/jwks"]) {
      expect(refusal(setting({ jwksUri }))).toThrow(/FORMBRIDGE_JWT_ISSUERS: 0\.jwksUri must be https/);
    }
    expect(refusal(setting({ algorithms: ["HS256"] }))).toThrow(/0\.algorithms\.0 must be one of RS256/);
  });

  it("[JWT-SETTINGS] a key file that is not a set of public keys stops the start, and nothing of it is shown", async () => {
    const { privateKey } = issuer.newest();
    const secret = await exportJWK(privateKey);
    for (const [value, words] of [
      ["{", "not valid JSON"],
      [{ keys: [] }, "0\\.jwksFile .*contains no key"],
      [[], "0\\.jwksFile .*not a JSON Web Key Set"],
      [{ keys: [secret] }, "0\\.jwksFile .*not public"],
    ] as const) {
      const refused = refusal(fromFile(file("jwks.json", value)));
      expect(refused).toThrow(new RegExp(`FORMBRIDGE_JWT_ISSUERS: .*${words}`));
      expect(refused).not.toThrow(String(secret.d));
    }
    expect(readConfig({ FORMBRIDGE_JWT_ISSUERS: fromFile(file("jwks.json", issuer.jwks())) }).jwt.issuers).toHaveLength(
      1,
    );
  });

  it("[JWT-SETTINGS] the start itself fails with an explanation", async () => {
    const { code, stdout, stderr } = await runCommand(["serve"], {
      FORMBRIDGE_DATA: folder.path,
      FORMBRIDGE_JWT_ISSUERS: setting({ audience: "" }),
    });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^FORMBRIDGE_JWT_ISSUERS: 0\.audience .*\n$/);
  });
});

describe("doctor", () => {
  const examine = (value: string) =>
    runCommand(["doctor"], { FORMBRIDGE_DATA: folder.path, FORMBRIDGE_JWT_ISSUERS: value });

  it("[JWT-DOCTOR] accepts issuers that provide their keys, remote or from a file", async () => {
    const local = { jwksUri: undefined, jwksFile: file("doctor.json", issuer.jwks()), name: "local", issuer: "local" };
    const both = JSON.stringify([
      issuerSettings(issuer, { jwksUri: `${issuer.jwksUri}?code=pa55` }),
      issuerSettings(issuer, local),
    ]);
    const { code, stdout } = await examine(both);
    expect(stdout).toContain(`ok  issuer test: ${issuer.jwksUri} has 1 key`);
    expect(stdout).toContain(`ok  issuer local: ${local.jwksFile} has 1 key`);
    expect(stdout).not.toMatch(/pa55|"kty"/);
    expect(code).toBe(0);
  });

  it("[JWT-DOCTOR] names the issuer that provides no keys, says why, and fails", async () => {
    const gone = await startIssuer(Date.now);
    await gone.stop();
    const { code, stdout } = await examine(JSON.stringify([issuerSettings(gone)]));
    expect(stdout).toMatch(/BAD issuer test: .*\/jwks provides no keys: .*ECONNREFUSED/);
    expect(code).toBe(1);
  });
});
