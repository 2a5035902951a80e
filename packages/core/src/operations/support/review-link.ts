import { REVIEW_LINK_PATTERN } from "@formbridge/contract";
import { ContractError } from "../../domain/error.ts";
import { sha256 } from "../../domain/hashing.ts";
import type { Instant } from "../../domain/instant.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import { awaits, linkOver } from "../../domain/review/link-standing.ts";
import type { ReviewLink } from "../../domain/review/review-link.ts";
import type { Waiting } from "../../domain/review/reviewers.ts";
import type { Caller } from "../caller.ts";
import type { Context } from "./context.ts";
import { openRow } from "./open-snapshot.ts";
import { countFailedLookup, refuseGuesser } from "./rate-limits.ts";

const WELL_FORMED = new RegExp(REVIEW_LINK_PATTERN);

/** A link that can decide, and what it decides. */
export interface OpenLink {
  link: ReviewLink;
  submission: Waiting;
  intake: CompiledIntake;
  now: Instant;
}

/** Finds what a link leads to, or refuses: malformed, unknown, or over. */
export async function openReviewLink(
  { deps, catalog }: Context,
  { caller, secret }: { caller: Caller; secret: string },
): Promise<OpenLink> {
  if (!WELL_FORMED.test(secret)) {
    const words = "The review link is malformed: rvw_ and 43 characters.";
    throw new ContractError("token_invalid", words, { reason: "malformed" });
  }
  await refuseGuesser(deps, caller);
  const loaded = await deps.backend.store.load({ by: { reviewLink: sha256(secret) } });
  const { link, now } = loaded;
  if (link === undefined || loaded.submission === undefined) {
    await countFailedLookup(deps, caller);
    throw new ContractError("token_invalid", "The review link is not known.", { reason: "unknown" });
  }
  const submission = openRow(deps.sealer, loaded.submission);
  const over = linkOver(link, submission, { now, policy: deps.settings.policy });
  if (over !== undefined) throw over;
  if (!awaits(submission, link)) throw new Error("a link that is not over is awaited");
  return { link, submission, intake: await catalog.byDigest(submission.definition), now };
}
