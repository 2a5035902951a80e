/** The requests of the benchmark, the same for both servers. Values are ASCII, so a length is a byte count. */
export interface Requests {
  create(apiKey: string, turn: number): string;
  setFields(token: string, turn: number): string;
  read(token: string): string;
}

const ACTOR = { kind: "agent", id: "bench-agent" };

/** The bodies, for HTTP and for MCP. */
export const createBody = (turn: number) => ({
  actor: ACTOR,
  initialFields: {
    company: `Lovelace Engines ${turn}`,
    contact: "Ada Lovelace",
    country: "SE",
    address: { street: "12 St James's Square", city: "London", postcode: "SW1Y 4JH" },
    categories: ["engines", "punched cards", "mathematics"],
  },
});
export const setFieldsBody = (turn: number) => ({
  actor: ACTOR,
  fields: { email: `ada.${turn}@example.com`, employees: 1 + (turn % 5000), notes: `Called again, note ${turn}.` },
});

const head = (line: string, more = ""): string => `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\n${more}`;

export function withBody(line: string, text: string, more = ""): string {
  const type = `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n`;
  return `${head(line, more)}${type}\r\n${text}`;
}

const DIFFERENT = 1_000;

/** A number of different bodies, serialized once: time the client spends on them is lost to the servers. */
function textsOf(body: (turn: number) => object): (turn: number) => string {
  const texts = Array.from({ length: DIFFERENT }, (_, turn) => JSON.stringify(body(turn)));
  return (turn) => texts[turn % DIFFERENT] as string;
}
const createText = textsOf(createBody);
const setFieldsText = textsOf(setFieldsBody);

export const withKey = (apiKey: string): string => `Authorization: Bearer ${apiKey}\r\n`;

export const overHttp: Requests = {
  create: (apiKey, turn) => withBody("POST /intakes/supplier/submissions", createText(turn), withKey(apiKey)),
  setFields: (token, turn) => withBody(`PATCH /resume/${token}/fields`, setFieldsText(turn)),
  read: (token) => `${head(`GET /resume/${token}`)}\r\n`,
};

/** The resume token in a body; found by its name, because parsing every body would measure the client. */
export function tokenIn(body: string): string {
  const at = body.indexOf('"resumeToken":"');
  if (at === -1) throw new Error(`no resume token in ${body.slice(0, 300)}`);
  return body.slice(at + 15, body.indexOf('"', at + 15));
}
