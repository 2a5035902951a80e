import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** What axe finds wrong with the page, in light and dark mode. */
export async function axeInBothSchemes(page: Page): Promise<string[]> {
  const found: string[] = [];
  await page.evaluate(axe.source);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const { violations } = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify({ runOnly: RULES })})`);
    for (const { id, nodes } of violations)
      found.push(...nodes.map(({ html }) => `${colorScheme} ${id}: ${html.slice(0, 200)}`));
  }
  return found;
}
