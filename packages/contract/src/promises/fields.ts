import type { ContractPromise } from "./promise.ts";

/** §2: fields. */
export const FIELDS_PROMISES = [
  { id: "FIELDS-MERGE", says: "A patch merges objects, replaces arrays, and null removes what was there." },
  { id: "FIELDS-NULL-STORED", says: "Where the property's own schema accepts null, null is a value and is stored." },
  { id: "FIELDS-NULL-UNDECLARED", says: "Null for an undeclared property removes it." },
  { id: "FIELDS-DOT-PATH", says: "A top-level key of a patch may be a dot-path to a place inside." },
  { id: "FIELDS-DOT-LITERAL", says: "A property whose name has a dot wins over reading the key as a path." },
  { id: "FIELDS-DOT-TOP-ONLY", says: "Below the top level a dot is part of a name." },
  { id: "FIELDS-PATCH-ORDER", says: "The keys of one patch apply in the order given." },
  { id: "FIELDS-ARRAY-INDEX", says: "A path may name an existing item or the next one, and no other." },
  {
    id: "FIELDS-RESERVED-NAMES",
    says: "__proto__, prototype or constructor anywhere in a patch is a 400 that stores nothing.",
  },
  {
    id: "FIELDS-INVALID-KEPT",
    says: "A value that fails validation is stored; the response is a 200 that says what is wrong.",
  },
  {
    id: "FIELDS-UNKNOWN-REFUSED",
    says: "A field that the schema forbids is a 422, and nothing of the patch is stored.",
  },
  {
    id: "FIELDS-INITIAL",
    says: "initialFields follow the rules of setFields; if they are refused, nothing is created.",
  },
  { id: "FIELDS-TOO-MUCH", says: "Input that is nested too deep is a 400, a body over the limit a 413." },
  { id: "FIELDS-ATTRIBUTION", says: "Every field path says who set it, when and at which version." },
  { id: "FIELDS-PROOF", says: "Attribution and events say how a human was identified: link, code, key or oidc." },
  {
    id: "FIELDS-HUMAN-PROOF",
    says: "An intake with humanProof: code does not accept human-only fields from a link without a code.",
  },
  {
    id: "FIELDS-MASKED",
    says: "Agents, models and bare tokens get { masked: true } for sensitive values; sent back, it changes nothing.",
  },
  { id: "FIELDS-FILE-FORGED", says: "A file field does not accept a reference that the caller wrote, at any depth." },
  {
    id: "FIELDS-FILE-ATTACH",
    says: "A file field accepts { uploadId } of a confirmed upload of the same submission, and no other.",
  },
  {
    id: "FIELDS-SCHEMA-DIALECTS",
    says: "Schemas are JSON Schema 2020-12 or draft-07, with local references and conditions.",
  },
  {
    id: "FIELDS-SCHEMA-REFUSED",
    says: "A schema that can't be used is refused at registration, with the location of the problem.",
  },
  { id: "FIELDS-HUMAN-ONLY", says: "A human-only field is set with a human's key; an agent gets a 422, at any depth." },
  { id: "FIELDS-AGENT-ONLY", says: "A human can't set an agent-only field." },
  { id: "FIELDS-SENSITIVE-SEALED", says: "The database contains no sensitive value in clear." },
  {
    id: "FIELDS-SENSITIVE-MASKED",
    says: "Events, lists, hints and conflicts show sensitive values masked, at any depth.",
  },
  { id: "FIELDS-ERROR-CODES", says: "A field error's code is one of the contract's, by what the schema asks for." },
  { id: "FIELDS-ERROR-PLACE", says: "A field error has a dot-path, what was expected and what was received." },
  { id: "FIELDS-ERROR-MASKED", says: "What was received is masked when the field is sensitive." },
  {
    id: "FIELDS-MISSING-PATHS",
    says: "missingFields names an absent object once, a present one by its missing members.",
  },
  {
    id: "FIELDS-MISSING-CONDITIONAL",
    says: "A conditionally required field is missing while its condition holds, and only then.",
  },
  { id: "FIELDS-ERRORS-INCLUDE-MISSING", says: "validationErrors lists the missing fields too." },
] as const satisfies readonly ContractPromise[];
