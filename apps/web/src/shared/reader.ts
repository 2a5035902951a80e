import { fill } from "@formbridge/form/texts";

export const LANGUAGES = ["en", "de", "fr", "es", "pt", "he", "ja"] as const;
export type Language = (typeof LANGUAGES)[number];

const RIGHT_TO_LEFT = new Set<Language>(["he"]);

/** What `plural` takes: `page.missing` for `page.missing.one`, `page.missing.other` and so on. */
export type PluralOf<Id extends string> = { [Each in Id]: Each extends `${infer Base}.one` ? Base : never }[Id];
type PluralForm<Id extends string> = `${PluralOf<Id>}.${Intl.LDMLPluralRule}`;
/** What `t` takes. */
export type PlainOf<Id extends string> = Exclude<Id, PluralForm<Id>>;

/** A whole catalog of these ids: a text that is missing does not compile. */
export type Catalog<Id extends string> = Record<PlainOf<Id> | `${PluralOf<Id>}.other`, string> &
  Partial<Record<PluralForm<Id>, string>>;

export interface ReaderOf<Id extends string> {
  language: Language;
  /** What the browser asked for, for dates and for the intake's own translations. */
  locale: string;
  t(id: PlainOf<Id>, values?: Record<string, string | number>): string;
  /** A text that depends on a number: `missing` means `missing.one`, `missing.other`. */
  plural(id: PluralOf<Id>, count: number): string;
  time(iso: string): string;
}

export interface Catalogs<Id extends string> {
  en: Catalog<Id>;
  load: Record<Exclude<Language, "en">, () => Promise<Record<string, Catalog<Id>>>>;
}

const baseOf = (tag: string): string => tag.toLowerCase().split("-")[0] ?? "";

/** The first of the browser's languages that we have. */
export function chooseLanguage(wanted: readonly string[]): { language: Language; locale: string } {
  for (const locale of wanted) {
    const language = LANGUAGES.find((known) => known === baseOf(locale));
    if (language !== undefined) return { language, locale };
  }
  return { language: "en", locale: "en" };
}

/** Keeps names and file names that run left to right from reordering the sentence around them. */
function fillIsolated(text: string, values: Record<string, string | number> = {}): string {
  const isolated = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === "string" ? `\u2068${value}\u2069` : value,
  ]);
  return fill(text, Object.fromEntries(isolated));
}

function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** The texts of one page in the first of the browser's languages that we have. */
export async function readerOf<Id extends string>(
  wanted: readonly string[],
  { en, load }: Catalogs<Id>,
): Promise<ReaderOf<Id>> {
  const { language, locale } = chooseLanguage(wanted);
  const texts: Record<string, string> = language === "en" ? en : ((await load[language]())[language] ?? en);
  // Made when they are first needed: each takes a slow phone tens of milliseconds.
  const rules = once(() => new Intl.PluralRules(locale));
  const clock = once(() => new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" }));
  const date = once(() => new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" }));
  const say = RIGHT_TO_LEFT.has(language) ? fillIsolated : fill;
  const isToday = (at: Date): boolean => at.toDateString() === new Date().toDateString();
  return {
    language,
    locale,
    t: (id, values) => say(texts[id] ?? "", values),
    plural: (id, count) => say(texts[`${id}.${rules().select(count)}`] ?? texts[`${id}.other`] ?? "", { count }),
    time(iso) {
      const at = new Date(iso);
      return (isToday(at) ? clock() : date()).format(at);
    },
  };
}

type Spoken = Pick<ReaderOf<string>, "language" | "locale">;

export const directionOf = ({ language }: Pick<Spoken, "language">): "rtl" | "ltr" =>
  RIGHT_TO_LEFT.has(language) ? "rtl" : "ltr";

export function applyLanguage(spoken: Spoken): void {
  document.documentElement.lang = spoken.locale;
  document.documentElement.dir = directionOf(spoken);
}
