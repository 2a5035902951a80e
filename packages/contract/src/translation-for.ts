/** What a definition says in a language: `pt-BR` falls back to `pt`. Without schemas, so that pages can use it. */
export function translationFor<Translation>(
  translations: Record<string, Translation> | undefined,
  language: string,
): Translation | undefined {
  const entries = Object.entries(translations ?? {});
  const find = (wanted: string) => entries.find(([tag]) => tag.toLowerCase() === wanted.toLowerCase())?.[1];
  return find(language) ?? find(language.split("-")[0] ?? "");
}
