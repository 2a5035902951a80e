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
    `Until ${toIso(why.until)} you can change it and submit it again, where you filled it in. Its id is ${submissionId}.`,
  ],
});

/** To the submitter: it is finalized. */
export const finishedLetter = ({ intake, submissionId }: About): Letter => ({
  subject: `Done: ${intake}`,
  parts: [`Your submission of ${intake} is complete. There is nothing left to do. Its id is ${submissionId}.`],
});

/** To the person who should continue: it will expire soon. */
export const expiryLetter = ({ intake, submissionId, until }: About & { until: Instant }): Letter => ({
  subject: `Expiring soon: ${intake}`,
  parts: [
    `A submission of ${intake} is still open. It expires at ${toIso(until)}, and the answers in it are lost then.`,
    `Its id is ${submissionId}.`,
  ],
});
