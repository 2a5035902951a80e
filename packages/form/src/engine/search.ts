/** Ignores case and accents: typing "zurich" finds "Zürich". */
const folded = (text: string): string => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** The choices that contain what was typed; those that begin with it come first. */
export function matching<Choice extends { label: string }>(
  choices: readonly Choice[],
  query: string,
): readonly Choice[] {
  const wanted = folded(query.trim());
  if (wanted === "") return choices;
  const starts: Choice[] = [];
  const contains: Choice[] = [];
  for (const choice of choices) {
    const at = folded(choice.label).indexOf(wanted);
    if (at === 0) starts.push(choice);
    else if (at > 0) contains.push(choice);
  }
  return [...starts, ...contains];
}
