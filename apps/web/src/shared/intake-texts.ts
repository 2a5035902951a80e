import type { GetSubmissionIntakeResponse } from "@formbridge/contract";

export type ShownIntake = GetSubmissionIntakeResponse["intake"];

/** The intake in the reader's language, as far as its definition has translations: `pt-BR` falls back to `pt`. */
export function translated(intake: ShownIntake, locale: string): ShownIntake {
  const { translations = {}, uiHints = {} } = intake;
  const tags = Object.keys(translations);
  const isTag = (wanted: string) => (tag: string) => tag.toLowerCase() === wanted.toLowerCase();
  const tag = tags.find(isTag(locale)) ?? tags.find(isTag(locale.split("-")[0] ?? ""));
  const found = tag === undefined ? undefined : translations[tag];
  if (found === undefined) return intake;
  const fieldHints = { ...uiHints.fieldHints };
  for (const [path, hint] of Object.entries(found.fields ?? {})) fieldHints[path] = { ...fieldHints[path], ...hint };
  const steps = uiHints.steps?.map((step) => ({ ...step, ...found.steps?.[step.id] }));
  return {
    ...intake,
    ...(found.name !== undefined && { name: found.name }),
    ...(found.description !== undefined && { description: found.description }),
    uiHints: { ...uiHints, fieldHints, ...(steps && { steps }) },
  };
}
