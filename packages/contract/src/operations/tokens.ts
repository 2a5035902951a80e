import Type, { type Static } from "typebox";
import { closedObject } from "../closed-object.ts";
import { submissionMark } from "../submission.ts";
import { writeMark } from "./set-fields.ts";

/** `tokens/revoke` and `tokens/reissue` take the same small body. */
export const TokenAdminRequest = closedObject(
  { ...writeMark, reason: Type.Optional(Type.String({ maxLength: 2000 })) },
  { examples: [{ reason: "The link was posted in a public channel" }] },
);
export type TokenAdminRequest = Static<typeof TokenAdminRequest>;

export const TokenAdminResponse = closedObject(submissionMark);
export type TokenAdminResponse = Static<typeof TokenAdminResponse>;
