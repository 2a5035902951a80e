import type { ContractPromise } from "./promise.ts";

/** What receivers, and operators of other networks, can rely on. */
export const COURIER_PROMISES = [
  {
    id: "COURIER-DESTINATION-CHECKED",
    says: "A destination that could never be delivered to is refused when it is registered, with the place named.",
  },
  {
    id: "COURIER-WEBHOOK-SIGNED",
    says: "A webhook is signed per Standard Webhooks, once with each secret, and the official verifier accepts it.",
  },
  {
    id: "COURIER-WEBHOOK-ID",
    says: "The webhook-id is the delivery's id, the same in every attempt; the timestamp is the attempt's.",
  },
  {
    id: "COURIER-WEBHOOK-HEADERS",
    says: "A destination's headers are sent, and none of them replaces one that says what the request is.",
  },
  {
    id: "COURIER-WEBHOOK-ANSWERS",
    says: "2xx takes a delivery; a redirect is not followed; 410 ends it; Retry-After of a 429 or 503 is heard, up to a day.",
  },
  { id: "COURIER-TIME-OUT", says: "No receiver, whatever it does, holds an attempt longer than the time-out." },
  {
    id: "COURIER-QUEUE-CONFIRMED",
    says: "A queue has taken a delivery when its server has confirmed it; a message that nobody would get has failed.",
  },
  { id: "COURIER-QUEUE-ID", says: "A message carries the delivery's id, the same each time it is sent." },
  {
    id: "COURIER-CALLBACK",
    says: "A callback has taken a delivery when it returns; a throw may be tried again, an unknown name may not.",
  },
  {
    id: "COURIER-GUARD",
    says: "Private, loopback, link-local, metadata and reserved addresses are not connected to, however they are spelled.",
  },
  {
    id: "COURIER-GUARD-PINNED",
    says: "A name is looked up once, every address that it has is judged, and the connection goes to one of those.",
  },
  {
    id: "COURIER-GUARD-SWITCH",
    says: "The operator may allow private, loopback and link-local targets; metadata addresses stay refused.",
  },
  {
    id: "COURIER-TLS",
    says: "Certificates are checked, against the name in the URL; nothing is sent to one that fails.",
  },
  {
    id: "COURIER-NO-SECRETS",
    says: "The words of a failed delivery hold no secret, and do not tell where the destination is.",
  },
] as const satisfies readonly ContractPromise[];
