/** One e-mail to one person; text and HTML have the same content. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
  html: string;
}

/** Sends e-mail. Optional. */
export interface Mailer {
  /**
   * Resolves once a mail server has accepted the message. Otherwise throws an error without any content of the message;
   * `MailRefused` means don't retry. Returns within its timeout.
   */
  send(mail: Mail): Promise<void>;
}

/** The mail server permanently rejected the message or its recipient. */
export class MailRefused extends Error {
  override name = "MailRefused";
}
