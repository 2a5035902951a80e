/** One mail to one person. Text and HTML say the same. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
  html: string;
}

/** Takes mail for delivery. Not every deployment has one. */
export interface Mailer {
  /**
   * Resolves when somebody else has taken responsibility for the mail; throws when nobody did, with words that hold nothing of
   * the mail: `MailRefused` when trying again is of no use. Never takes longer than its time-out.
   */
  send(mail: Mail): Promise<void>;
}

/** The mail server has looked at the mail, or its address, and will not have it. */
export class MailRefused extends Error {
  override name = "MailRefused";
}
