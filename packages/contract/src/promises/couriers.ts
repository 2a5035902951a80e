import type { ContractPromise } from "./promise.ts";

/** What receivers, and operators of other networks, can rely on. */
export const COURIER_PROMISES = [
  {
    id: "COURIER-DESTINATION-CHECKED",
    says: "A destination that could never be delivered to is refused at registration, with the location of the problem.",
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
    says: "2xx accepts a delivery; redirects are not followed; 410 ends it; Retry-After of a 429 or 503 is respected, up to a day.",
  },
  { id: "COURIER-TIME-OUT", says: "No receiver can make an attempt last longer than the timeout." },
  {
    id: "COURIER-QUEUE-CONFIRMED",
    says: "A queue has accepted a delivery once its server has confirmed it; a message that no consumer would get has failed.",
  },
  { id: "COURIER-QUEUE-ID", says: "A message carries the delivery's id, the same each time it is sent." },
  {
    id: "COURIER-CALLBACK",
    says: "A callback has accepted a delivery when it returns; if it throws, the delivery may be retried; an unknown name may not.",
  },
  {
    id: "COURIER-GUARD",
    says: "Private, loopback, link-local, metadata and reserved addresses are not connected to, however they are spelled.",
  },
  {
    id: "COURIER-GUARD-PINNED",
    says: "A name is resolved once, every resulting address is checked, and the connection goes to one of them.",
  },
  {
    id: "COURIER-GUARD-SWITCH",
    says: "The operator may allow private, loopback and link-local targets; metadata addresses stay refused.",
  },
  {
    id: "COURIER-TLS",
    says: "Certificates are verified against the name in the URL; nothing is sent if that fails.",
  },
  {
    id: "COURIER-NO-SECRETS",
    says: "The message of a failed delivery contains no secret and does not reveal where the destination is.",
  },
] as const satisfies readonly ContractPromise[];
