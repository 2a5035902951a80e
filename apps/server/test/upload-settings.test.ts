import { expect, it } from "vitest";
import { readConfig } from "../src/config/config.ts";

const uploads = (env: Record<string, string>) => readConfig({ FORMBRIDGE_DATA: "/data", ...env }).uploads;

it("files go to the data folder, unless a bucket is named", () => {
  expect(uploads({}).storage).toEqual({
    kind: "disk",
    folder: "/data/uploads",
    reserveBytes: 512 * 1024 ** 2,
  });
  expect(uploads({ FORMBRIDGE_S3_BUCKET: "b" }).storage).toMatchObject({
    kind: "s3",
    bucket: "b",
    region: "us-east-1",
  });
});

it("a command is parsed as words, or as a JSON array of them, without a shell", () => {
  expect(uploads({ FORMBRIDGE_SCAN_COMMAND: "scan  --stream -" }).scan).toMatchObject({
    argv: ["scan", "--stream", "-"],
  });
  expect(uploads({ FORMBRIDGE_SCAN_COMMAND: '["a b", "$(c)"]' }).scan).toMatchObject({ argv: ["a b", "$(c)"] });
});

it.each([
  ["keys without a bucket", { FORMBRIDGE_S3_ACCESS_KEY_ID: "a" }, "FORMBRIDGE_S3_BUCKET is not"],
  ["half of the keys", { FORMBRIDGE_S3_BUCKET: "b", FORMBRIDGE_S3_ACCESS_KEY_ID: "a" }, "belong together"],
  ["an endpoint that is no URL", { FORMBRIDGE_S3_BUCKET: "b", FORMBRIDGE_S3_ENDPOINT: "s3" }, "it takes a URL"],
  ["a prefix with a blank", { FORMBRIDGE_S3_BUCKET: "b", FORMBRIDGE_S3_PREFIX: "a b" }, "FORMBRIDGE_S3_PREFIX"],
  ["two scanners", { FORMBRIDGE_SCAN_COMMAND: "a", FORMBRIDGE_SCAN_URL: "http://b" }, "both set"],
  ["a scanner's URL that is none", { FORMBRIDGE_SCAN_URL: "file:///x" }, "FORMBRIDGE_SCAN_URL"],
  ["a command that is no list of words", { FORMBRIDGE_SCAN_COMMAND: "[1]" }, "JSON array"],
])("%s stops the start with an explanation", (_name, env, words) => {
  expect(() => uploads(env)).toThrow(words);
});
