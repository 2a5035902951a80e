import { execFile } from "node:child_process";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { OaiPmh } from "oai-pmh/src/oai-pmh.js";

const run = promisify(execFile);

/** What a harvester found: identifiers, and which of them are deleted. */
export type Harvested = { id: string; deleted: boolean }[];

const PERL = `
use strict; use warnings; use HTTP::OAI;
my $harvester = HTTP::OAI::Harvester->new(baseURL => $ARGV[0]);
my $answer = $harvester->ListRecords(metadataPrefix => $ARGV[1], onRecord => sub {
  my $record = shift;
  print $record->identifier, $record->is_deleted ? " deleted" : " live", "\n";
});
die $answer->code . " " . $answer->message if $answer->is_error;
`;

const harvestedBy = (line: string): Harvested[number] => {
  const [id = "", status] = line.split(" ");
  return { id, deleted: status === "deleted" };
};
const linesOf = (text: string): string[] => text.split("\n").filter((line) => line !== "");

async function byPerl(url: string): Promise<Harvested> {
  const { stdout } = await run("perl", ["-e", PERL, url, "oai_dc"]);
  return linesOf(stdout).map(harvestedBy);
}

async function byCatmandu(url: string): Promise<Harvested> {
  const args = ["convert", "OAI", "--url", url, "--metadataPrefix", "oai_dc", "to", "JSON", "--line_delimited", "1"];
  const { stdout } = await run("catmandu", args);
  return linesOf(stdout).map((line) => {
    const { _id, _status } = JSON.parse(line) as { _id: string; _status: string };
    return { id: _id, deleted: _status === "deleted" };
  });
}

async function byNode(url: string): Promise<Harvested> {
  const found: Harvested = [];
  const harvester = new OaiPmh(url, { retryMin: 0 });
  for await (const { header } of harvester.listRecords({ metadataPrefix: "oai_dc" })) {
    found.push({ id: header.identifier, deleted: header.$?.status === "deleted" });
  }
  return found;
}

/** Real harvesters, unmodified. */
export const HARVESTERS: Record<string, (url: string) => Promise<Harvested>> = {
  "HTTP::OAI": byPerl,
  Catmandu: byCatmandu,
  "oai-pmh": byNode,
};

export interface Front {
  url: string;
  /** Requests that have reached it so far. */
  requests(): number;
  close(): Promise<void>;
}

/** A front for several servers: sends requests to them in turn, and answers every fifth one with a 503. */
export async function startFront(
  targets: () => readonly string[],
  arrived: (count: number) => Promise<void>,
): Promise<Front> {
  let count = 0;
  const server = createServer((incoming, outgoing) => {
    count += 1;
    const place = count;
    if (place % 5 === 0) {
      outgoing.writeHead(503, { "retry-after": "1" }).end("Later.");
      return;
    }
    void arrived(place).then(() => {
      const urls = targets();
      const target = new URL(incoming.url ?? "/", urls[place % urls.length]);
      const onward = request(target, { method: incoming.method, headers: { ...incoming.headers, host: target.host } });
      onward.on("response", (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      });
      onward.on("error", () => outgoing.destroy());
      incoming.pipe(onward);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => count,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
