import { createEnvironment, type Environment } from "./environment.ts";
import { type Report, runEpisode } from "./episode.ts";
import { inHaste } from "./haste.ts";
import type { Sabotage } from "./world.ts";

const STEPS = 400;
const ALL_STEPS = Array.from({ length: STEPS }, (_, step) => step);
const MAX_SHRINK_RUNS = 400;

export interface Campaign {
  episodes: number;
  operations: number;
  /** How often each response was seen, by operation. */
  seen: Map<string, number>;
  /** As a message, with the seed and the steps that lead to it. */
  failure?: string;
}

interface CampaignOptions {
  firstSeed: number;
  operations: number;
  sabotage?: Sabotage;
}

/** Episode after episode until enough operations were tried, or one contradicted the model. */
export async function campaign(options: CampaignOptions): Promise<Campaign> {
  const { firstSeed, operations, sabotage } = options;
  const fixed = { steps: ALL_STEPS, ...(sabotage && { sabotage }) };
  const environment = createEnvironment();
  const result: Campaign = { episodes: 0, operations: 0, seen: new Map() };
  for (let seed = firstSeed; result.operations < operations; seed++) {
    const report = await inHaste(() => runEpisode(environment, { ...fixed, seed }));
    result.episodes += 1;
    result.operations += report.operations;
    for (const [name, count] of report.seen) result.seen.set(name, (result.seen.get(name) ?? 0) + count);
    if (report.problem !== undefined) {
      return { ...result, failure: sabotage ? wordsOf(report.problem) : await explain(environment, seed, report) };
    }
  }
  return result;
}

/** The shortest sequence of steps with the same outcome. */
async function explain(environment: Environment, seed: number, report: Report): Promise<string> {
  const steps = await shrink(environment, seed, ALL_STEPS.slice(0, (report.step ?? STEPS) + 1));
  const lines: string[] = [];
  const { problem = report.problem } = await runEpisode(environment, {
    seed,
    steps,
    trace: (line) => lines.push(line),
  });
  const story = lines.slice(-80).join("\n");
  return `FORMBRIDGE_SIM_SEED=${seed} (${steps.length} steps after shrinking)\n${story}\n${wordsOf(problem)}`;
}

const wordsOf = (problem: unknown): string =>
  problem instanceof Error ? (problem.stack ?? problem.message) : String(problem);

/** Removes ever smaller runs of steps, as long as the model is still contradicted. */
async function shrink(environment: Environment, seed: number, failing: readonly number[]): Promise<readonly number[]> {
  let steps = failing;
  let runs = 0;
  for (let size = Math.ceil(steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < steps.length && runs < MAX_SHRINK_RUNS; ) {
      const fewer = [...steps.slice(0, from), ...steps.slice(from + size)];
      runs += 1;
      const { problem } = await inHaste(() => runEpisode(environment, { seed, steps: fewer }));
      if (problem === undefined) from += size;
      else steps = fewer;
    }
  }
  return steps;
}
