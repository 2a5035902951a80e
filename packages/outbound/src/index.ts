export type { Callback, CallbackDelivery } from "./callback-courier.ts";
export { type CourierOptions, createCourier } from "./create-courier.ts";
export { judgeAddress, type Verdict } from "./guard/judge-address.ts";
export { createSmtpMailer, type SmtpOptions } from "./mail/smtp-mailer.ts";
