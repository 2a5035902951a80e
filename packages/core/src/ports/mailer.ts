export interface Mail {
  to: string;
  subject: string;
  text: string;
}

/** Takes mail for delivery. Not every deployment has one. */
export interface Mailer {
  /** Resolves when somebody else has taken responsibility for the mail; throws when nobody did. */
  send(mail: Mail): Promise<void>;
}
