import { type ErrorType, ReceiveUploadResponse } from "@formbridge/contract";
import { INCOMING_FILE_ERRORS } from "./routes/shared.ts";

type Document = Record<string, unknown>;

const parameter = (name: string, where: "path" | "query" | "header", about: Document): Document => ({
  name,
  in: where,
  required: where !== "header",
  schema: { type: "string" },
  ...about,
});

const SIGNED = [
  parameter("uploadId", "path", { example: "upl_01977d3e-8c00-7000-8000-000000000002" }),
  parameter("grant", "query", {
    description: "Part of the signed URL.",
    example: "eyJhbGciOiJIUzI1NiJ9.e30.x",
  }),
];

const bytes = { schema: { type: "string", format: "binary" } };
const tusHeader = parameter("Tus-Resumable", "header", { description: "1.0.0", example: "1.0.0" });
const offset = parameter("Upload-Offset", "header", { description: "How many bytes have arrived.", example: "0" });

/** The paths that transfer file contents. The signed URL is the only credential. */
export function uploadPaths(failures: (types: readonly ErrorType[]) => Document): Record<string, Document> {
  const operation = (operationId: string, summary: string, rest: Document): Document => ({
    operationId,
    summary,
    tags: ["uploads"],
    security: [{}],
    parameters: SIGNED,
    ...rest,
  });
  const answered = { "204": { description: "Taken." }, ...failures(INCOMING_FILE_ERRORS) };
  return {
    "/uploads/{uploadId}": {
      put: operation("receiveUpload", "Send a whole file", {
        requestBody: { required: true, content: { "*/*": bytes } },
        responses: {
          "200": {
            description: "It is here.",
            content: { "application/json": { schema: JSON.parse(JSON.stringify(ReceiveUploadResponse)) } },
          },
          ...failures(INCOMING_FILE_ERRORS),
        },
      }),
      get: operation("readUpload", "Download a file", {
        parameters: [
          ...SIGNED,
          parameter("Range", "header", { description: "One range of bytes.", example: "bytes=0-99" }),
        ],
        responses: {
          "200": { description: "The file.", content: { "*/*": bytes } },
          "206": { description: "The requested part.", content: { "*/*": bytes } },
          ...failures(["forbidden", "not_found", "token_expired", "range_not_satisfiable", "service_unavailable"]),
        },
      }),
    },
    "/uploads/{uploadId}/resumable": {
      head: operation("resumableOffset", "tus: how many bytes have arrived", {
        parameters: [...SIGNED, tusHeader],
        responses: {
          "200": { description: "See Upload-Offset and Upload-Length." },
          ...failures(INCOMING_FILE_ERRORS),
        },
      }),
      post: operation("resumableCreate", "tus: start; the upload already exists", {
        parameters: [...SIGNED, tusHeader, parameter("Upload-Length", "header", { example: "52428" })],
        responses: { "201": { description: "See Location." }, ...failures(INCOMING_FILE_ERRORS) },
      }),
      patch: operation("resumableAppend", "tus: send the following bytes", {
        parameters: [...SIGNED, tusHeader, offset],
        requestBody: { required: true, content: { "application/offset+octet-stream": bytes } },
        responses: answered,
      }),
    },
  };
}
