import type { ContractPromise } from "./promise.ts";

/** §8: files. */
export const UPLOADS_PROMISES = [
  {
    id: "UPLOADS-WALK",
    says: "A file is announced, sent to its URL and confirmed, and appears in its field with size and digest.",
  },
  {
    id: "UPLOADS-URL-BOUND",
    says: "A signed URL works for one upload, method, size and type, until it expires; altered, it is a 403.",
  },
  {
    id: "UPLOADS-KEY-ROTATION",
    says: "A URL signed with an older secret works as long as that secret is configured.",
  },
  {
    id: "UPLOADS-EXACT",
    says: "A body of another length or type, without a length, or cut off is refused, and nothing of it is kept.",
  },
  { id: "UPLOADS-ONE-WRITER", says: "While a file is being sent, a second one to the same URL is a 409." },
  {
    id: "UPLOADS-SLOW",
    says: "A file may be sent slowly, as long as it is wanted; silence ends it, and a refused body is not waited for.",
  },
  { id: "UPLOADS-LARGE", says: "A file may be larger than any other body, and is never held in memory." },
  { id: "UPLOADS-RESUME", says: "An interrupted upload continues where it stopped, with tus." },
  {
    id: "UPLOADS-RESUME-BOUND",
    says: "A file sent in pieces is limited to the announced size, like one sent at once.",
  },
  { id: "UPLOADS-PARTS", says: "On S3, a file may be sent in parts by URLs that are signed for each of them." },
  {
    id: "UPLOADS-CONFIRM-CHECKS",
    says: "A confirm checks size, digest and the type detected from the bytes; a mismatch is a 422, and the file is removed.",
  },
  {
    id: "UPLOADS-CONFIRM-ORDER",
    says: "Confirming before the file is there is a 422, twice a 409, and another submission's upload a 404.",
  },
  {
    id: "UPLOADS-SEALED",
    says: "The file that was checked is the file that is kept: nothing sent later replaces it.",
  },
  {
    id: "UPLOADS-TYPE",
    says: "A file is never accepted as what it is not: executables, archives, markup and files that are two things at once.",
  },
  {
    id: "UPLOADS-ACTIVE",
    says: "Content that a browser would run is accepted only where the field names exactly that type, and is never served as such.",
  },
  {
    id: "UPLOADS-NAMES",
    says: "The given file name is cleaned by one rule, is never a path, and is not used as a name in storage.",
  },
  {
    id: "UPLOADS-DOWNLOAD",
    says: "A confirmed file can be downloaded with a short-lived signed URL by callers who may read its value.",
  },
  {
    id: "UPLOADS-SAVED-ONLY",
    says: "A file is served as an attachment with a safe name, without sniffing, in a sandbox, and is not cached.",
  },
  { id: "UPLOADS-RANGE", says: "A part of a file can be requested as a byte range." },
  {
    id: "UPLOADS-SENSITIVE",
    says: "A file of a sensitive field is not available to callers who see its value masked, not named in events, and not stored in clear.",
  },
  { id: "UPLOADS-SCAN", says: "With a scanner, an infected file is a 422 and is removed." },
  {
    id: "UPLOADS-SCAN-CLOSED",
    says: "A file that could not be scanned is not accepted: a 503, and the confirm can be retried.",
  },
  {
    id: "UPLOADS-COLLECTED",
    says: "Files that were never confirmed, were replaced, or whose submission did not end well are removed after a grace period, and no others.",
  },
  {
    id: "UPLOADS-ABANDON",
    says: "A pending upload can be abandoned: its URL stops working, its bytes are removed, and the state follows.",
  },
  {
    id: "UPLOADS-NEXT",
    says: "Every refusal about an upload names a next action, with the uploadId where there is one.",
  },
  {
    id: "UPLOADS-VALIDATE",
    says: "validate names pending uploads, and needs no token from a key that may hold it.",
  },
  { id: "UPLOADS-ORPHANS", says: "Files that no submission refers to are found and removed." },
] as const satisfies readonly ContractPromise[];
