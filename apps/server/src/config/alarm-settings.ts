import { ALARM_KINDS, ALARM_RESPONSES, type AlarmKind, type AlarmResponse } from "@formbridge/contract";
import { type AlarmRule, type AlarmRules, isTimed, responsesProblem, ruleProblem } from "@formbridge/core";
import { isEmail } from "./oai-settings.ts";
import { bad, type Reader } from "./reader.ts";
import type { SettingName } from "./settings.ts";

interface AlarmsChoice {
  alarms: AlarmRules | false;
  alarmBlockMs: number;
  alarmMail?: string;
}

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const alarmSetting = (kind: AlarmKind): SettingName => `FORMBRIDGE_ALARM_${kind.toUpperCase()}` as SettingName;

export function alarmsOf(read: Reader): AlarmsChoice {
  const responses = responsesOf(read);
  const rules = ALARM_KINDS.map((kind) => [kind, ruleOf(read, kind, responses.get(kind) ?? [])] as const);
  const alarms = Object.fromEntries(rules.filter(([, rule]) => rule !== undefined)) as AlarmRules;
  const alarmMail = read.checked("FORMBRIDGE_ALARM_MAIL", isEmail, "an e-mail address");
  return {
    alarms: read.isOn("FORMBRIDGE_ALARMS") && alarms,
    alarmBlockMs: read.number("FORMBRIDGE_ALARM_BLOCK_MS", { min: 1_000, max: 31_536_000_000 }),
    ...(alarmMail !== undefined && { alarmMail }),
  };
}

function ruleOf(read: Reader, kind: AlarmKind, responses: AlarmResponse[]): AlarmRule | undefined {
  const name = alarmSetting(kind);
  const value = read.text(name);
  if (value === "off") return undefined;
  const takes = isTimed(kind) ? "a time such as 60s or 14d, or off" : "a count and a time such as 50/5m, or off";
  const [, count, time, unit] = /^(?:(\d{1,6})\/)?(\d{1,6})([smhd])$/.exec(value) ?? [];
  if (time === undefined || (count === undefined) !== isTimed(kind)) throw bad(name, value, takes);
  const windowMs = Number(time) * UNITS[unit as keyof typeof UNITS];
  const rule = { threshold: Number(count ?? 0), windowMs, responses };
  const problem = ruleProblem(kind, rule);
  if (problem !== undefined) throw bad(name, value, problem);
  return rule;
}

/** `token_shared:revoke+notify_creator,failed_lookups:block` */
function responsesOf(read: Reader): Map<AlarmKind, AlarmResponse[]> {
  const name = "FORMBRIDGE_ALARM_RESPONSES";
  const value = read.optional(name);
  const given = new Map<AlarmKind, AlarmResponse[]>();
  for (const part of value === undefined ? [] : value.split(",")) {
    const [kind, list = ""] = part.trim().split(":");
    const known = ALARM_KINDS.find((one) => one === kind);
    const responses = list.split("+").map((text) => ALARM_RESPONSES.find((one) => one === text));
    if (known === undefined || given.has(known) || !responses.every((one) => one !== undefined))
      throw bad(
        name,
        value ?? "",
        `<alarm>:<response>+<response>,… with each alarm once and ${ALARM_RESPONSES.join(", ")}`,
      );
    const problem = responsesProblem(known, responses);
    if (problem !== undefined) throw bad(name, part.trim(), problem);
    given.set(known, responses);
  }
  return given;
}

/** The header of the client's country; only a proxy that is trusted may set it. */
export function countryHeaderOf(read: Reader): { countryHeader?: string } {
  const name = "FORMBRIDGE_COUNTRY_HEADER";
  const header = read.optional(name)?.toLowerCase();
  if (header === undefined) return {};
  if (!/^[a-z0-9-]{1,64}$/.test(header)) throw bad(name, header, "the name of a header");
  if (!read.flag("FORMBRIDGE_TRUST_PROXY"))
    throw bad(name, header, "nothing without FORMBRIDGE_TRUST_PROXY: any client could send the header");
  return { countryHeader: header };
}
