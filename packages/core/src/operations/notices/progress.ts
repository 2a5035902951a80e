import { type Instant, toIso } from "../../domain/instant.ts";
import type { Letter } from "./render.ts";

interface About {
  intake: string;
  submissionId: string;
}

/** To the submitter: it was rejected, and why. */
export const rejectionLetter = ({
  intake,
  submissionId,
  ...why
}: About & { reasons: readonly string[]; until: Instant }): Letter => ({
  subject: `Please look at it again: ${intake}`,
  parts: [
    `Your submission of ${intake} was not approved. The reviewer says:`,
    { list: why.reasons },
    `You can change it and submit it again until ${toIso(why.until)}, the way you filled it in. It is ${submissionId}.`,
  ],
});

/** To the submitter: it is finalized. */
export const finishedLetter = ({ intake, submissionId }: About): Letter => ({
  subject: `Done: ${intake}`,
  parts: [`Your submission of ${intake} is complete. There is nothing left to do. It was ${submissionId}.`],
});

/** To the person who should continue: it will expire soon. */
export const expiryLetter = ({ intake, submissionId, until }: About & { until: Instant }): Letter => ({
  subject: `Time is running out: ${intake}`,
  parts: [
    `A submission of ${intake} is still open. It ends by itself at ${toIso(until)}, and what is filled in is lost then.`,
    `It is ${submissionId}.`,
  ],
});
