import Type, { type Static } from "typebox";
import { closedObject } from "../closed-object.ts";

export const SignPartsRequest = closedObject(
  {
    multipartId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        description: "From the first response: returns URLs for the same file again.",
      }),
    ),
    etags: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
        minItems: 1,
        maxItems: 10_000,
        description: "What the storage returned for each part, in order: completes the file.",
      }),
    ),
  },
  { examples: [{}] },
);
export type SignPartsRequest = Static<typeof SignPartsRequest>;

export const SignPartsResponse = closedObject({
  ok: Type.Literal(true),
  submissionId: Type.String(),
  uploadId: Type.String(),
  complete: Type.Boolean(),
  multipartId: Type.Optional(Type.String()),
  partBytes: Type.Optional(Type.Integer()),
  parts: Type.Optional(
    Type.Array(closedObject({ partNumber: Type.Integer(), sizeBytes: Type.Integer(), url: Type.String() })),
  ),
});
export type SignPartsResponse = Static<typeof SignPartsResponse>;
