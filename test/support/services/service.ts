import { connect } from "node:net";
import { createInterface } from "node:readline";
import { inject } from "vitest";

/**
 * How to reach a server of this test run, which is started on the first request. Fails if it can't be started: nothing
 * is skipped.
 */
export async function service(name: string): Promise<Record<string, string>> {
  const connection = connect(inject("services"));
  connection.write(`${JSON.stringify({ service: name })}\n`);
  const [line] = await new Promise<string[]>((resolve, reject) => {
    connection.once("error", reject);
    createInterface(connection).once("line", (text) => resolve([text]));
  });
  const { details, error } = JSON.parse(line ?? "{}");
  if (error !== undefined) throw new Error(`This test needs the server ${name}: ${error}`);
  return details;
}
