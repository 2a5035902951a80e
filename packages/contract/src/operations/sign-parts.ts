import Type, { type Static } from "typebox";

export const SignPartsRequest = Type.Object(
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
  { additionalProperties: false, examples: [{}] },
);
export type SignPartsRequest = Static<typeof SignPartsRequest>;

export const SignPartsResponse = Type.Object(
  {
    ok: Type.Literal(true),
    submissionId: Type.String(),
    uploadId: Type.String(),
    complete: Type.Boolean(),
    multipartId: Type.Optional(Type.String()),
    partBytes: Type.Optional(Type.Integer()),
    parts: Type.Optional(
      Type.Array(
        Type.Object(
          { partNumber: Type.Integer(), sizeBytes: Type.Integer(), url: Type.String() },
          { additionalProperties: false },
        ),
      ),
    ),
  },
  { additionalProperties: false },
);
export type SignPartsResponse = Static<typeof SignPartsResponse>;
