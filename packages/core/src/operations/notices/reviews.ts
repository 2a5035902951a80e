import { type Instant, toIso } from "../../domain/instant.ts";
import type { Letter } from "./render.ts";

export interface Asked {
  intake: string;
  gate: string;
  submissionId: string;
  requestedAt: Instant;
  url: string;
  expiresAt: Instant;
}

const howTo = ({ url, expiresAt }: Asked): Letter["parts"] => [
  { link: url, says: "See what was submitted, and decide" },
  `The link is only for you and works for one decision, until ${toIso(expiresAt)}. Do not pass it on.`,
];

/** To a reviewer: a gate is waiting. */
export const reviewLetter = (asked: Asked): Letter => ({
  subject: `Your review is needed: ${asked.intake}`,
  parts: [
    `A submission of ${asked.intake} waits for your decision at ${asked.gate}.`,
    `Its id is ${asked.submissionId}. It has been waiting since ${toIso(asked.requestedAt)}.`,
    ...howTo(asked),
  ],
});

/** To those in `escalateTo`: a gate has waited too long. */
export const escalationLetter = (asked: Asked): Letter => ({
  subject: `A review is overdue: ${asked.intake}`,
  parts: [
    `A submission of ${asked.intake} has waited for a decision at ${asked.gate} since ${toIso(asked.requestedAt)}. You may decide now.`,
    `Its id is ${asked.submissionId}.`,
    ...howTo(asked),
  ],
});
