import type { GetSubmissionIntakeResponse } from "@formbridge/contract";
import { translationFor } from "@formbridge/contract/translation-for";

export type ShownIntake = GetSubmissionIntakeResponse["intake"];

/** The intake in the reader's language, as far as its definition has translations. */
export function translated(intake: ShownIntake, locale: string): ShownIntake {
  const { translations, uiHints = {} } = intake;
  const found = translationFor(translations, locale);
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
