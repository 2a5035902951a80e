import { type ReaderOf, readerOf } from "./reader.ts";
import { en } from "./texts/en.ts";

export { applyLanguage, chooseLanguage, directionOf, LANGUAGES } from "./reader.ts";

/** The texts of the form page, in the reader's language. */
export type Reader = ReaderOf<keyof typeof en>;

export const createReader = (wanted: readonly string[]): Promise<Reader> =>
  readerOf<keyof typeof en>(wanted, {
    en,
    load: {
      de: () => import("./texts/de.ts"),
      fr: () => import("./texts/fr.ts"),
      es: () => import("./texts/es.ts"),
      pt: () => import("./texts/pt.ts"),
      he: () => import("./texts/he.ts"),
      ja: () => import("./texts/ja.ts"),
    },
  });
