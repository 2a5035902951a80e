import type { Place } from "../../form-context.ts";

/** Ids are lists of words to browsers, so names in them must be one word. */
const asWord = (name: string): string =>
  name.replaceAll(/[^\w-]/gu, (character) => `.${(character.codePointAt(0) ?? 0).toString(16)}`);

/** The place of a member. Items of a list keep their id when they move, so it need not be made of their index. */
export const placeIn = ({ path, id }: Place, name: string | number, word: string = String(name)): Place => ({
  path: [...path, name],
  id: `${id}/${asWord(word)}`,
});
