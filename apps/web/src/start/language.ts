import { type ReaderOf, readerOf } from "../shared/reader.ts";
import { en } from "./texts/en.ts";

/** The texts of the start page, in the reader's language. */
export type StartReader = ReaderOf<keyof typeof en>;

export const createReader = (wanted: readonly string[]): Promise<StartReader> =>
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
