import { REVIEW_LINK_PATTERN } from "@formbridge/contract";
import { ContractError } from "../../domain/error.ts";
import { sha256 } from "../../domain/hashing.ts";
import type { Instant } from "../../domain/instant.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import { linkActor } from "../../domain/notices/notice.ts";
import { ASK_FOR_LINK, awaits, linkOver } from "../../domain/review/link-standing.ts";
import type { ReviewLink } from "../../domain/review/review-link.ts";
import type { Waiting } from "../../domain/review/reviewers.ts";
import type { Caller } from "../caller.ts";
import type { Context } from "../context.ts";
import { networkFor } from "../identity/network-of.ts";
import { countFailedLookup, refuseGuesser } from "../identity/rate-limits.ts";
import { openRow } from "../read/open-snapshot.ts";
import { tellingTo } from "../write/refusals.ts";

const WELL_FORMED = new RegExp(REVIEW_LINK_PATTERN);

/** A link that can decide, and what it decides on. */
export interface OpenLink {
  link: ReviewLink;
  submission: Waiting;
  intake: CompiledIntake;
  now: Instant;
}

/**
 * Finds a link's submission, or refuses: malformed, unknown, or no longer valid. Refusals from `use` include what any
 * caller who sees the submission learns; an ended link only reveals that it existed.
 */
export async function withReviewLink<T>(
  context: Context,
  { caller, secret }: { caller: Caller; secret: string },
  use: (found: OpenLink) => T | Promise<T>,
): Promise<T> {
  const { deps, catalog } = context;
  if (!WELL_FORMED.test(secret)) {
    const words = "The review link is malformed. It must be rvw_ followed by 43 characters.";
    throw new ContractError("token_invalid", words, { reason: "malformed", nextActions: [ASK_FOR_LINK] });
  }
  await context.watch.refuseBlocked(caller);
  await refuseGuesser(deps, caller);
  const loaded = await deps.backend.store.load({ by: { reviewLink: sha256(secret) } });
  const { link, now } = loaded;
  if (link === undefined || loaded.submission === undefined) {
    context.watch.observe({ at: now, outcome: "unknown", ...networkFor(caller) });
    await countFailedLookup(deps, caller);
    const words = "The review link is unknown.";
    throw new ContractError("token_invalid", words, { reason: "unknown", nextActions: [ASK_FOR_LINK] });
  }
  const submission = openRow(deps.sealer, loaded.submission);
  const intake = await catalog.byDigest(submission.definition);
  const over = linkOver(link, submission, { now, policy: deps.settings.policy });
  const refused = {
    submission,
    intake,
    actor: linkActor(link.email),
    learns: over === undefined ? "all" : "id",
  } as const;
  return await tellingTo(deps, refused, () => {
    if (over !== undefined) throw over;
    if (!awaits(submission, link)) throw new Error("a link that is not over is awaited");
    return use({ link, submission, intake, now });
  });
}
