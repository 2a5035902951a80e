import { DEFAULT_ALARMS } from "@formbridge/core";
import { expect, it } from "vitest";
import { composeCore } from "../src/compose.ts";
import { readConfig } from "../src/config/config.ts";

const configWith = (env: Record<string, string>) => readConfig({ FORMBRIDGE_DATABASE_URL: "memory:", ...env });
const alarmsWith = (env: Record<string, string>) => configWith(env).settings.alarms;

it("by default, every alarm is on with its documented threshold and only reports", () => {
  expect(alarmsWith({})).toEqual(DEFAULT_ALARMS);
  expect(alarmsWith({ FORMBRIDGE_ALARMS: "off" })).toBe(false);
});

it("thresholds and responses can be set, and alarms turned off one by one", () => {
  const env = {
    FORMBRIDGE_ALARM_TOKEN_SHARED: "9/2h",
    FORMBRIDGE_ALARM_DORMANT_TOKEN: "30d",
    FORMBRIDGE_ALARM_FAILED_LOOKUPS: "off",
    FORMBRIDGE_ALARM_RESPONSES: "token_shared:revoke+notify_creator, token_enumeration:block",
  };
  const alarms = alarmsWith(env) || {};
  expect(alarms.token_shared).toEqual({ threshold: 9, windowMs: 7_200_000, responses: ["revoke", "notify_creator"] });
  expect(alarms.token_enumeration?.responses).toEqual(["block"]);
  expect(alarms.dormant_token?.windowMs).toBe(2_592_000_000);
  expect(alarms.failed_lookups).toBeUndefined();
});

it.each([
  ["FORMBRIDGE_ALARM_TOKEN_SHARED", "0/5m", "more than one address"],
  ["FORMBRIDGE_ALARM_TOKEN_ENUMERATION", "0/1m", "more than one submission"],
  ["FORMBRIDGE_ALARM_EXPIRED_TOKENS_PROBED", "0/1h", "more than one token"],
  ["FORMBRIDGE_ALARM_TOKEN_SHARED", "3", "a count and a time such as 50/5m"],
  ["FORMBRIDGE_ALARM_FAILED_LOOKUPS", "-1/5m", "a count and a time"],
  ["FORMBRIDGE_ALARM_FAILED_LOOKUPS", "50/0s", "a second and a year"],
  ["FORMBRIDGE_ALARM_DORMANT_TOKEN", "5/14d", "a time such as 60s or 14d"],
  ["FORMBRIDGE_ALARM_DORMANT_TOKEN", "1m", "at least an hour"],
  ["FORMBRIDGE_ALARM_AGENT_AFTER_HANDOFF", "2d", "at most an hour"],
  ["FORMBRIDGE_ALARM_RESPONSES", "token_shared:shout", "<alarm>:<response>"],
  ["FORMBRIDGE_ALARM_RESPONSES", "token_shared:revoke+reissue", "FORMBRIDGE_ALARM_RESPONSES is"],
  ["FORMBRIDGE_ALARM_RESPONSES", "token_shared:revoke+reissue", "not both"],
  ["FORMBRIDGE_ALARM_RESPONSES", "token_shared:block+block", "each response once"],
  ["FORMBRIDGE_ALARM_RESPONSES", "failed_lookups:block+revoke", "block only, not revoke"],
  ["FORMBRIDGE_ALARM_RESPONSES", "token_shared:revoke,token_shared:block", "each alarm once"],
  ["FORMBRIDGE_ALARM_RESPONSES", "theft:revoke", "<alarm>:<response>"],
  ["FORMBRIDGE_ALARM_BLOCK_MS", "0", "1000"],
  ["FORMBRIDGE_ALARM_MAIL", "nobody", "an e-mail address"],
  ["FORMBRIDGE_COUNTRY_HEADER", "cf-ipcountry", "FORMBRIDGE_TRUST_PROXY"],
])("[ALARMS-SETTINGS] %s=%s stops the start with an explanation", (name, value, words) => {
  expect(() => configWith({ [name]: value })).toThrow(words);
});

it("[ALARMS-SETTINGS] thresholds are checked while alarms are off, too", () => {
  const env = { FORMBRIDGE_ALARMS: "off", FORMBRIDGE_ALARM_TOKEN_SHARED: "junk" };
  expect(() => configWith(env)).toThrow("a count and a time");
});

it("[ALARMS-SETTINGS] an address for incidents stops the start if no mail can be sent", async () => {
  await expect(composeCore(configWith({ FORMBRIDGE_ALARM_MAIL: "ops@example.com" }))).rejects.toThrow(
    "FORMBRIDGE_SMTP_URL",
  );
});
