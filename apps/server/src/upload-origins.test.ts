import { expect, it } from "vitest";
import { uploadOrigins } from "./upload-origins.ts";

const bucket = { kind: "s3" as const, bucket: "files", region: "eu-west-1", prefix: "", forcePathStyle: false };
const of = (storage: Parameters<typeof uploadOrigins>[0]["storage"]) =>
  uploadOrigins({ storage, idleMs: 1 }, "https://forms.example.com/base");

it("[MCP-APP-RESOURCE] the form may connect to where files are uploaded, our server or the bucket, and nothing else", () => {
  expect(of({ kind: "disk", folder: "x", reserveBytes: 0 })).toEqual(["https://forms.example.com"]);
  expect(of(bucket)).toEqual(["https://files.s3.eu-west-1.amazonaws.com"]);
  expect(of({ ...bucket, forcePathStyle: true })).toEqual(["https://s3.eu-west-1.amazonaws.com"]);
  const endpoint = "http://127.0.0.1:9000";
  expect(of({ ...bucket, endpoint })).toEqual(["http://files.127.0.0.1:9000"]);
  expect(of({ ...bucket, endpoint, forcePathStyle: true })).toEqual([endpoint]);
});
