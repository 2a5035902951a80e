import type { StoredIntake } from "../../ports/intakes.ts";
import type { Context } from "../context.ts";

const PAGE = 1000;

/** All intakes of the deployment, retired ones too, by id. */
export async function* everyIntake({ deps }: Context): AsyncGenerator<StoredIntake, void, undefined> {
  for (let after = ""; ; ) {
    const page = await deps.backend.intakes.list({ after }, PAGE);
    yield* page;
    const last = page.at(-1)?.definition.id;
    if (last === undefined || page.length < PAGE) return;
    after = last;
  }
}
