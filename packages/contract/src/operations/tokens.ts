import Type, { type Static } from "typebox";
import { submissionMark } from "../submission.ts";
import { writeMark } from "./set-fields.ts";

/** `tokens/revoke` and `tokens/reissue` take the same small body. */
export const TokenAdminRequest = Type.Object(
  { ...writeMark, reason: Type.Optional(Type.String({ maxLength: 2000 })) },
  { additionalProperties: false, examples: [{ reason: "The link was posted in a public channel" }] },
);
export type TokenAdminRequest = Static<typeof TokenAdminRequest>;

export const TokenAdminResponse = Type.Object(submissionMark, { additionalProperties: false });
export type TokenAdminResponse = Static<typeof TokenAdminResponse>;
