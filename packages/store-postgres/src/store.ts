import type { Change, Loaded, LoadQuery, Store } from "@formbridge/core";
import type { Database } from "./database.ts";
import { answered, gatherQuestions } from "./gathered.ts";
import { createGroupCommit } from "./group-commit.ts";
import * as statements from "./load.ts";

/** Load and commit: one round trip each, shared by calls of the same turn of the event loop. */
export function createStore(db: Database): Store {
  const asking = (statement: typeof statements.LOAD_BY_ID) => {
    const ask = gatherQuestions(db, statement);
    return async (question: Parameters<typeof ask>[0]) => statements.loadedOf(answered(await ask(question)));
  };
  const byToken = asking(statements.LOAD_BY_TOKEN);
  const byId = asking(statements.LOAD_BY_ID);
  const bySession = asking(statements.LOAD_BY_SESSION);
  const byIntake = asking(statements.LOAD_BY_INTAKE);
  const byReviewLink = asking(statements.LOAD_BY_REVIEW_LINK);
  const forChange = asking(statements.LOAD_FOR_CHANGE);

  async function load({ by, key }: LoadQuery): Promise<Loaded> {
    const keyed = key && { operation: key.operation, key_hash: key.hash };
    if ("token" in by) return await byToken({ token: by.token, ...keyed });
    if ("session" in by) return await bySession({ session: by.session, ...keyed });
    if ("reviewLink" in by) return await byReviewLink({ link: by.reviewLink, ...keyed });
    if ("id" in by) return await byId({ tenant: by.tenant, id: by.id, ...keyed });
    return await byIntake({ intake: by.intake, ...keyed });
  }

  const standing = ({ tenant, row: { submission }, key }: Change): Promise<Loaded> =>
    forChange({
      tenant,
      id: submission.submissionId,
      intake: submission.intakeId,
      ...(key && { operation: key.ref.operation, key_hash: key.ref.hash }),
    });

  return { load, commit: createGroupCommit(db, standing) };
}
