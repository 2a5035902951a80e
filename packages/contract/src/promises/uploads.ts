import type { ContractPromise } from "./promise.ts";

/** §8: files. */
export const UPLOADS_PROMISES = [
  {
    id: "UPLOADS-WALK",
    says: "A file is announced, sent to its URL, confirmed, and stands in its field with size and digest.",
  },
  {
    id: "UPLOADS-URL-BOUND",
    says: "A signed URL is good for one upload, method, size and type, until its time is over; altered, it is a 403.",
  },
  {
    id: "UPLOADS-KEY-ROTATION",
    says: "A URL that an older secret signed is good as long as that secret is configured.",
  },
  {
    id: "UPLOADS-EXACT",
    says: "A body of another length or type, without a length, or cut off is refused, and nothing of it is left behind.",
  },
  { id: "UPLOADS-ONE-WRITER", says: "While a file is being sent, a second one to the same URL is a 409." },
  {
    id: "UPLOADS-SLOW",
    says: "A file may come slowly, as long as it is wanted; silence ends it, and a body that is refused is not waited for.",
  },
  { id: "UPLOADS-LARGE", says: "A file may be larger than any other body, and is never held in memory." },
  { id: "UPLOADS-RESUME", says: "A file that broke off goes on where it stopped, by tus." },
  {
    id: "UPLOADS-RESUME-BOUND",
    says: "What is sent piece by piece is bound to the announced size, as what is sent at once.",
  },
  { id: "UPLOADS-PARTS", says: "On S3, a file may be sent in parts by URLs that are signed for each of them." },
  {
    id: "UPLOADS-CONFIRM-CHECKS",
    says: "A confirm checks size, digest and the type that the bytes speak for; what does not fit is a 422, and the file is gone.",
  },
  {
    id: "UPLOADS-CONFIRM-ORDER",
    says: "Confirming before the file is there is a 422, twice a 409, and another submission's upload a 404.",
  },
  {
    id: "UPLOADS-SEALED",
    says: "The file that was checked is the file that is kept: nothing that is sent later replaces it.",
  },
  {
    id: "UPLOADS-TYPE",
    says: "A file is never taken for what it is not: executables, archives, markup and files that are two things at once.",
  },
  {
    id: "UPLOADS-ACTIVE",
    says: "What a browser would run is taken only where the field names exactly that type, and is never served as such.",
  },
  {
    id: "UPLOADS-NAMES",
    says: "The given file name is cleaned by one rule, is never a path, and names nothing at rest.",
  },
  {
    id: "UPLOADS-DOWNLOAD",
    says: "A confirmed file is given by a signed URL of short life, to those who may read its value.",
  },
  {
    id: "UPLOADS-SAVED-ONLY",
    says: "A file is served as an attachment with a safe name, without sniffing, in a sandbox, and is kept by no cache.",
  },
  { id: "UPLOADS-RANGE", says: "A part of a file can be had by a range of bytes." },
  {
    id: "UPLOADS-SENSITIVE",
    says: "A file of a sensitive field is not given to those who see its value masked, nor named in events or in clear at rest.",
  },
  { id: "UPLOADS-SCAN", says: "With a scanner, a file in which it finds something is a 422 and is gone." },
  {
    id: "UPLOADS-SCAN-CLOSED",
    says: "A file that could not be scanned is not taken: a 503, and the confirm can be tried again.",
  },
  {
    id: "UPLOADS-COLLECTED",
    says: "Files that were never confirmed, were replaced, or whose submission ended badly go after a grace period, and no other.",
  },
  {
    id: "UPLOADS-ABANDON",
    says: "A pending upload can be abandoned: its URL takes nothing any more, its bytes go, and the state follows.",
  },
  {
    id: "UPLOADS-NEXT",
    says: "Every refusal about an upload names a next action, with the uploadId where there is one.",
  },
  {
    id: "UPLOADS-VALIDATE",
    says: "validate names pending uploads, and needs no token from a key that may hold it.",
  },
  { id: "UPLOADS-ORPHANS", says: "Files that no submission knows are found and taken away." },
] as const satisfies readonly ContractPromise[];
