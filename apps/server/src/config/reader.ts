import { SETTINGS, type Setting, type SettingName } from "./settings.ts";

export type Env = Record<string, string | undefined>;

/** A bad value stops the start. Names the variable, its value and what it takes. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

/** Shows neither secrets nor the login of a URL, which ends at the last @ because a password may contain one. */
export function bad(name: SettingName, got: string, takes: string): ConfigError {
  const { secret } = SETTINGS[name] as Setting;
  const shown = secret === true ? "(not shown)" : got.replace(/\/\/.*@/, "//…@");
  return new ConfigError(`${name} is ${JSON.stringify(shown)}; it takes ${takes}.`);
}

export const isWebUrl = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

export type Reader = ReturnType<typeof createReader>;

/** Reads settings by their names. An empty value counts as none. */
export function createReader(env: Env) {
  const optional = (name: SettingName): string | undefined => {
    const { alias } = SETTINGS[name] as Setting;
    const value = env[name] ?? (alias === undefined ? undefined : env[alias]);
    return value === "" ? undefined : value;
  };
  const text = (name: SettingName): string => optional(name) ?? String((SETTINGS[name] as Setting).fallback ?? "");
  const oneOf = <Choice extends string>(name: SettingName, choices: readonly Choice[]): Choice => {
    const value = text(name);
    const chosen = choices.find((choice) => choice === value);
    if (chosen === undefined) throw bad(name, value, choices.join(", "));
    return chosen;
  };
  return {
    optional,
    text,
    oneOf,
    isOn: (name: SettingName): boolean => oneOf(name, ["on", "off"]) === "on",
    /** The value if there is one; it must be valid. */
    checked(name: SettingName, isValid: (value: string) => boolean, takes: string): string | undefined {
      const value = optional(name);
      if (value !== undefined && !isValid(value)) throw bad(name, value, takes);
      return value;
    },
    number(name: SettingName, { min = 0, max = Number.MAX_SAFE_INTEGER }: { min?: number; max?: number } = {}): number {
      const value = text(name);
      const parsed = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
      if (!(parsed >= min && parsed <= max))
        throw bad(name, value, `a whole number from ${min}${max < 1e15 ? ` to ${max}` : ""}`);
      return parsed;
    },
    flag(name: SettingName): boolean {
      const value = text(name).toLowerCase();
      if (["1", "true", "yes", "on"].includes(value)) return true;
      if (["0", "false", "no", "off"].includes(value)) return false;
      throw bad(name, value, "1 or 0");
    },
  };
}
