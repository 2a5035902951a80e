import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { everythingStored } from "../support/at-rest.ts";
import { startTestServer, type TestServer } from "../support/harness.ts";
import { expectRefusal } from "../support/moves.ts";
import { Answers, all, dateOf, errorOf, finalize, identifiers, library, resumption } from "../support/oai.ts";

const SECOND = 1000;
/** PostgreSQL's horizon is a little behind the clock, which stands still here. */
const STEP = 2 * SECOND;
const DAY = 86_400_000;
const DOMAIN = "forms.example.org";
const answers = new Answers();
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ env: { FORMBRIDGE_OAI_PAGE_SIZE: "4", FORMBRIDGE_OAI_DOMAIN: DOMAIN } });
});
afterAll(() => server.stop());

async function oai(query: string, on = server): Promise<string> {
  const reply = await on.call("GET", `/oai?${query}`);
  expect([reply.status, reply.headers["content-type"]]).toEqual([200, "text/xml; charset=utf-8"]);
  return answers.add(reply.body);
}

const list = (query = "", verb = "ListRecords") => oai(`verb=${verb}&metadataPrefix=oai_dc${query}`);
const at = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
const encoded = encodeURIComponent;

/** All pages of a list. */
async function harvest(query: string, verb = "ListRecords"): Promise<string[]> {
  const pages = [await oai(`verb=${verb}&${query}`)];
  for (;;) {
    const token = resumption(pages.at(-1) ?? "")?.token;
    if (token === undefined || token === "") return pages;
    pages.push(await oai(`verb=${verb}&resumptionToken=${encoded(token)}`));
  }
}
const idsOf = (pages: string[]): string[] => pages.flatMap((page) => all(page, "header").flatMap(identifiers));

describe("an empty repository", () => {
  it("[OAI-ERRORS] has no sets and no records, and reports that", async () => {
    expect(errorOf(await list())).toBe("noRecordsMatch");
    expect(errorOf(await oai("verb=ListSets"))).toBe("noSetHierarchy");
    const identified = await oai("verb=Identify");
    expect(all(identified, "earliestDatestamp")).toEqual([dateOf(identified)]);
  });
});

describe("records", () => {
  let ids: string[];
  let startedAt: number;
  let earlier: string;

  beforeAll(async () => {
    await server.putIntake({ ...library, oai: { dc: { title: "title" } } });
    earlier = await finalize(server, { title: "Before the intake was published" });
    expect((await server.putIntake({ ...library, version: "2" })).status).toBe(200);
    await server.putIntake({ id: "private" });
    await finalize(server, { name: "Ada" }, "private");
    server.clock.advance(STEP);
    startedAt = server.clock.now();
    ids = [];
    for (let index = 0; index < 8; index++) {
      ids.push(
        await finalize(server, {
          title: `Thesis ${index} <&> "quoted"`,
          authors: ["Ada", "Grace"],
          year: 2020 + index,
          degree: { name: "Dr.", grade: 1.7 },
          phone: "+49 30 1234",
          note: "not for harvesters",
        }),
      );
      server.clock.advance(STEP);
    }
  });

  it("[OAI-OPT-IN] [OAI-SETS] are those of intakes that were published when they were created", async () => {
    const found = idsOf(await harvest("metadataPrefix=oai_dc"));
    expect(found).toEqual(ids);
    expect(found).not.toContain(earlier);
    const sets = await oai("verb=ListSets");
    expect(all(sets, "setSpec")).toEqual(["theses"]);
    expect(all(sets, "setName")).toEqual(["Theses &amp; dissertations"]);
    expect(idsOf(await harvest("metadataPrefix=oai_dc&set=theses", "ListIdentifiers"))).toEqual(ids);
    expect(errorOf(await list("&set=private"))).toBe("noRecordsMatch");
    expect(errorOf(await oai(`verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:${DOMAIN}:${earlier}`))).toBe(
      "idDoesNotExist",
    );
  });

  it("[OAI-DC] [OAI-IDENTIFIER] in Dublin Core have what the intake maps, and an identifier", async () => {
    const xml = await oai(`verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:${DOMAIN}:${ids[0]}`);
    expect(all(xml, "dc:title")).toEqual(['Thesis 0 &lt;&amp;&gt; "quoted"']);
    expect(all(xml, "dc:creator")).toEqual(["Ada", "Grace"]);
    expect(all(xml, "dc:date")).toEqual(["2020"]);
    expect(all(xml, "dc:identifier")).toEqual([`oai:${DOMAIN}:${ids[0]}`]);
    expect(all(xml, "header")).toEqual([
      `<identifier>oai:${DOMAIN}:${ids[0]}</identifier><datestamp>${at(startedAt)}</datestamp><setSpec>theses</setSpec>`,
    ]);
  });

  it("[OAI-FULL-RECORD] in full have the named fields, with their types", async () => {
    const xml = await oai(`verb=GetRecord&metadataPrefix=formbridge&identifier=oai:${DOMAIN}:${ids[1]}`);
    expect(all(xml, "intake")).toEqual(["Theses &amp; dissertations"]);
    expect(xml).toContain('<field path="authors"><array><string>Ada</string><string>Grace</string></array></field>');
    expect(xml).toContain('<field path="year"><number>2021</number></field>');
    expect(xml).toContain('<field path="degree"><object><string name="name">Dr.</string></object></field>');
  });

  it("[OAI-ONLY-NAMED-FIELDS] no response has a sensitive value, or one that is not named", async () => {
    for (const prefix of ["oai_dc", "formbridge"]) {
      const text = (await harvest(`metadataPrefix=${prefix}`)).join();
      expect(text).toContain("Thesis 0");
      expect(text).not.toMatch(/1234|1\.7|grade|phone|harvesters|sensitive/);
    }
  });

  it("[OAI-SENSITIVE-REFUSED] a definition can't name a sensitive field", async () => {
    for (const oaiPart of [{ dc: { title: "phone" } }, { fields: ["degree.grade"] }, { fields: ["title", "none"] }]) {
      const reply = await server.putIntake({ ...library, id: "leaky", oai: { set: true, ...oaiPart } });
      expect(reply.status).toBe(422);
      expect(JSON.stringify(reply.body.error)).toMatch(/oai\.(dc\.title|fields\.[01])/);
    }
  });

  it("[OAI-VERBS] by GET and by POST are the same", async () => {
    const verbs = [
      "verb=Identify",
      "verb=ListMetadataFormats",
      `verb=ListMetadataFormats&identifier=oai:${DOMAIN}:${ids[0]}`,
      "verb=ListSets",
      "verb=ListIdentifiers&metadataPrefix=oai_dc&from=2020-01-01",
      `verb=GetRecord&metadataPrefix=formbridge&identifier=oai:${DOMAIN}:${ids[0]}`,
    ];
    for (const query of verbs) {
      const posted = await server.call("POST", "/oai", {
        raw: query,
        headers: { "content-type": "application/x-www-form-urlencoded" },
      });
      const got = await oai(query);
      expect(errorOf(got)).toBeUndefined();
      // A token is new each time it is issued; here it expires at the same time.
      expect(answers.add(posted.body)).toBe(got);
    }
    expect(all(await oai("verb=ListMetadataFormats"), "metadataPrefix")).toEqual(["oai_dc", "formbridge"]);
    expect((await server.call("PUT", "/oai")).status).toBe(405);
    const json = await server.call("POST", "/oai", { body: { verb: "Identify" } });
    expectRefusal(json, 415, "unsupported_media_type");
    expect(json.body.error.message).toMatch("application/x-www-form-urlencoded");
  });

  it("[OAI-PAGES] [OAI-PAGE-SIZE] cursor counts what came before, and an empty token closes the list", async () => {
    const pages = await harvest("metadataPrefix=oai_dc");
    // Eight records are exactly two pages of four: the second is the last, and not empty.
    expect(pages.map((page) => all(page, "record").length)).toEqual([4, 4]);
    const [first, last] = pages.map((page) => resumption(page));
    expect(first).toMatchObject({ cursor: 0, total: 8, expires: at(server.clock.now() + DAY) });
    expect(first?.token).not.toBe("");
    expect(last).toEqual({ token: "", cursor: 4, total: 8 });
    expect(resumption(await list(`&until=${at(startedAt + 3 * STEP)}`))).toBeUndefined();
    const three = await harvest(`metadataPrefix=oai_dc&from=${at(startedAt)}`, "ListIdentifiers");
    expect(three.map((page) => all(page, "header").length)).toEqual([4, 4]);
  });

  it("[OAI-TOKEN-TWICE] a token returns the same page again", async () => {
    const token = encoded(resumption(await list())?.token ?? "");
    const pages = [
      await oai(`verb=ListRecords&resumptionToken=${token}`),
      await oai(`verb=ListRecords&resumptionToken=${token}`),
    ];
    expect(all(pages[0] ?? "", "record")).toHaveLength(4);
    expect(pages[0]).toBe(pages[1]);
  });

  it("[OAI-TOKEN-REFUSED] a changed or expired token, or one of another verb, is refused", async () => {
    const token = resumption(await list())?.token ?? "";
    const page = await server.call("GET", "/submissions?limit=1", { key: server.adminKey });
    const bad = [
      ["ListRecords", `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`],
      ["ListRecords", `${token}=`],
      ["ListRecords", "nonsense\u0001"],
      ["ListRecords", page.body.nextPageToken as string],
      ["ListIdentifiers", token],
      ["ListSets", token],
    ] as const;
    for (const [verb, text] of bad) {
      const xml = await oai(`verb=${verb}&resumptionToken=${encoded(text)}`);
      expect(errorOf(xml)).toBe("badResumptionToken");
      expect(xml).toContain(`verb="${verb}"`);
    }
    server.clock.advance(DAY + SECOND);
    expect(errorOf(await oai(`verb=ListRecords&resumptionToken=${encoded(token)}`))).toBe("badResumptionToken");
  });

  it("[OAI-DATES] from and until are inclusive, to the second and to the day", async () => {
    const range = (query: string) => harvest(`metadataPrefix=oai_dc&${query}`).then(idsOf);
    const [from, until] = [at(startedAt + 2 * STEP), at(startedAt + 3 * STEP)];
    expect(await range(`from=${from}&until=${until}`)).toEqual(ids.slice(2, 4));
    expect(await range(`from=${from}`)).toEqual(ids.slice(2));
    expect(await range(`until=${until}`)).toEqual(ids.slice(0, 4));
    const day = from.slice(0, 10);
    expect(await range(`from=${day}&until=${day}`)).toEqual(ids);
    expect(errorOf(await list("&from=2099-01-01"))).toBe("noRecordsMatch");
    const xml = await oai("verb=Identify");
    expect(all(xml, "granularity")).toEqual(["YYYY-MM-DDThh:mm:ssZ"]);
    expect(all(xml, "earliestDatestamp")).toEqual([at(startedAt)]);
    for (const page of await harvest("metadataPrefix=oai_dc")) {
      for (const stamp of all(page, "datestamp")) expect(stamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    }
  });

  it("[OAI-ERRORS] an illegal request gets its code and is not echoed", async () => {
    const id = `oai:${DOMAIN}:${ids[0]}`;
    const illegal: Record<string, string[]> = {
      badVerb: ["", "verb=", "verb=listRecords", "verb=Identify&verb=Identify", "verb=constructor"],
      badArgument: [
        "verb=Identify&from=2020-01-01",
        "verb=ListRecords",
        "verb=ListRecords&metadataPrefix=oai_dc&metadataPrefix=oai_dc",
        "verb=ListRecords&metadataPrefix=oai%20dc",
        "verb=ListRecords&metadataPrefix=oai_dc&from=2020-02-30",
        "verb=ListRecords&metadataPrefix=oai_dc&from=2020-1-1",
        "verb=ListRecords&metadataPrefix=oai_dc&from=2020-01-01T00:00Z",
        "verb=ListRecords&metadataPrefix=oai_dc&from=2020-01-01&until=2020-01-01T00:00:00Z",
        "verb=ListRecords&metadataPrefix=oai_dc&from=2020-01-02&until=2020-01-01",
        "verb=ListRecords&metadataPrefix=oai_dc&set=a:",
        "verb=ListRecords&metadataPrefix=oai_dc&resumptionToken=x",
        "verb=GetRecord&metadataPrefix=oai_dc",
        `verb=GetRecord&identifier=${id}`,
        "verb=GetRecord&metadataPrefix=oai_dc&identifier=no%20uri",
        "verb=ListIdentifiers&metadataPrefix=oai_dc&%3Cx%3E=1",
        "verb=ListSets&set=theses",
        "verb=ListMetadataFormats&metadataPrefix=oai_dc",
      ],
    };
    for (const [code, queries] of Object.entries(illegal)) {
      for (const query of queries) {
        const xml = await oai(query);
        expect([query, errorOf(xml)]).toEqual([query, code]);
        expect(xml).toContain(`<request>${server.url}/oai</request>`);
      }
    }
  });

  it("[OAI-ERRORS] a legal request that can't be met gets its code and is echoed", async () => {
    const id = `oai:${DOMAIN}:${ids[0]}`;
    const unmet: Record<string, string[]> = {
      cannotDisseminateFormat: [
        "verb=ListRecords&metadataPrefix=marcxml",
        "verb=ListIdentifiers&metadataPrefix=marcxml",
        `verb=GetRecord&metadataPrefix=marcxml&identifier=${id}`,
      ],
      idDoesNotExist: [
        "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:elsewhere.org:1",
        `verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:${DOMAIN}:`,
        "verb=ListMetadataFormats&identifier=urn:x",
      ],
      noRecordsMatch: ["verb=ListRecords&metadataPrefix=oai_dc&until=2000-01-01"],
    };
    for (const [code, queries] of Object.entries(unmet)) {
      for (const query of queries) {
        const xml = await oai(query);
        expect([query, errorOf(xml)]).toEqual([query, code]);
        for (const [name, value] of new URLSearchParams(query)) expect(xml).toContain(`${name}="${value}"`);
      }
    }
  });

  it("[OAI-TOMBSTONES] an erased submission is a deleted record, also when it was removed", async () => {
    const gone = await finalize(server, { title: "To be erased" });
    expect(await everythingStored(server)).toContain("To be erased");
    server.clock.advance(STEP);
    const id = `oai:${DOMAIN}:${gone}`;
    const from = at(server.clock.now());
    const erased = await server.call("POST", `/submissions/${gone}/erase`, { key: server.adminKey, body: {} });
    expect(erased.status).toBe(200);
    expect(await everythingStored(server)).not.toContain("To be erased");
    server.clock.advance(STEP);
    const tombstone = `<record><header status="deleted"><identifier>${id}</identifier><datestamp>${from}</datestamp><setSpec>theses</setSpec></header></record>`;
    expect(await list(`&from=${from}`)).toContain(`<ListRecords>${tombstone}</ListRecords>`);
    server.clock.advance(200 * DAY);
    expect(await server.server.core.operations.sweep()).toMatchObject({ removed: expect.any(Number) });
    expect((await server.call("GET", `/submissions/${gone}`, { key: server.adminKey })).status).toBe(404);
    expect(await list(`&from=${from}`)).toContain(`<ListRecords>${tombstone}</ListRecords>`);
    expect(await oai(`verb=GetRecord&metadataPrefix=oai_dc&identifier=${id}`)).toContain(tombstone);
    expect(errorOf(await oai(`verb=ListMetadataFormats&identifier=${id}`))).toBe("noMetadataFormats");
  });

  it("[OAI-WITHDRAWN] withdrawing an intake removes its records, and publishing it brings them back", async () => {
    const live = await finalize(server, { title: "Comes and goes" });
    server.clock.advance(STEP);
    await server.putIntake({ ...library, version: "3", oai: {} });
    const id = `oai:${DOMAIN}:${live}`;
    const shown = () => oai(`verb=GetRecord&metadataPrefix=oai_dc&identifier=${id}`);
    const withdrawnAt = at(server.clock.now());
    expect(await shown()).toContain('<header status="deleted">');
    expect(await shown()).not.toContain("Comes and goes");
    expect(errorOf(await oai("verb=ListSets"))).toBe("noSetHierarchy");
    await server.server.core.operations.sweep();
    server.clock.advance(STEP);
    expect(idsOf(await harvest(`metadataPrefix=oai_dc&from=${withdrawnAt}`))).toContain(live);
    await server.putIntake({ ...library, version: "4" });
    const backAt = at(server.clock.now());
    await server.server.core.operations.sweep();
    server.clock.advance(STEP);
    expect(idsOf(await harvest(`metadataPrefix=oai_dc&from=${backAt}`))).toContain(live);
    expect(await shown()).toContain("Comes and goes");
  });

  it("[OAI-HORIZON] records of the current second are left to the next harvest, which starts where this one ended", async () => {
    server.clock.advance(SECOND - (server.clock.now() % SECOND) + 200);
    const first = await finalize(server, { title: "Early in the second" });
    server.clock.advance(300);
    const before = await oai("verb=ListIdentifiers&metadataPrefix=oai_dc&from=2020-01-01");
    expect(idsOf(await harvest("metadataPrefix=oai_dc"))).not.toContain(first);
    expect(dateOf(before) <= at(server.clock.now())).toBe(true);
    server.clock.advance(200);
    const second = await finalize(server, { title: "Late in the second" });
    server.clock.advance(STEP);
    expect(idsOf(await harvest(`metadataPrefix=oai_dc&from=${dateOf(before)}`)).slice(-2)).toEqual(
      [first, second].sort(),
    );
  });

  it("[OAI-ESCAPED] control characters, markup and broken text come out as XML", async () => {
    const title = "\u0000\u0001\u001f\t\n\r\u007f\ufffe\uffff<![CDATA[ ]]> & ' \" \u{1f600} é";
    const made = await finalize(server, { title, authors: ["]]>", "<script>", "&amp;"] });
    server.clock.advance(STEP);
    for (const prefix of ["oai_dc", "formbridge"]) {
      const xml = await oai(`verb=GetRecord&metadataPrefix=${prefix}&identifier=oai:${DOMAIN}:${made}`);
      expect(xml).toContain("\ufffd\ufffd\ufffd\t\n&#13;\u007f\ufffd\ufffd&lt;![CDATA[ ]]&gt; &amp; ' \" \u{1f600} é");
    }
  });
});

describe("under load", () => {
  it("[OAI-RETRY-AFTER] too many at once get a Retry-After", async () => {
    const env = { FORMBRIDGE_OAI_AT_ONCE: "1", FORMBRIDGE_OAI_RETRY_AFTER_MS: "7000" };
    const busy = await startTestServer({ store: "memory", env });
    const replies = await Promise.all(Array.from({ length: 20 }, () => busy.call("GET", "/oai?verb=Identify")));
    const refused = replies.filter(({ status }) => status === 503);
    expect(replies.some(({ status }) => status === 200)).toBe(true);
    expect(refused.length).toBeGreaterThan(0);
    for (const { headers } of refused) expect(headers["retry-after"]).toBe("7");
    expect((await busy.call("GET", "/oai?verb=Identify")).status).toBe(200);
    await busy.stop();
  });
});

describe("all of these responses", () => {
  it("[OAI-VALID] are valid by the schemas", async () => {
    const schema = await server.call("GET", "/oai/record.xsd");
    expect(schema.headers["content-type"]).toBe("text/xml; charset=utf-8");
    expect(answers.problems(schema.body)).toBe("");
    const wrong = new Answers();
    wrong.add((await oai("verb=Identify")).replace("<protocolVersion>2.0<", "<protocolVersion>1.0<"));
    expect(wrong.problems(schema.body)).toContain("protocolVersion");
  });
});
