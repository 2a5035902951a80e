import { ContractError, type Harvest, type Operations, type PublishedRecord } from "@formbridge/core";
import { toSeconds } from "./dates.ts";
import { OaiError } from "./errors.ts";
import { FORMATS, type MetadataFormat, RECORD_SCHEMA, SCHEMA_FILE } from "./formats.ts";
import { identifierOf, recordWriter } from "./records.ts";
import { type OaiRequest, rangeOf, readRequest } from "./request.ts";
import { document, element, leaf, text, type Xml } from "./xml.ts";

export interface OaiSettings {
  /** The URL of `/oai`. */
  baseUrl: () => string;
  /** Part of every identifier, so it must never change. */
  domain: () => string;
  repositoryName: string;
  /** Defaults to the domain's postmaster. */
  adminEmail?: string;
}

export interface OaiProvider {
  /** The whole response to a request's arguments, as XML; protocol errors are responses too. */
  answer(given: readonly (readonly [string, string])[]): Promise<string>;
  /** The schema of the full-record format, and its file name below the base URL. */
  schema: { file: string; text: string };
}

type Source = Pick<Operations, "listPublished" | "getPublished" | "describePublished" | "listPublishedSets">;

/** A verb's response, and the time up to which it is complete. */
interface Answer {
  body: Xml;
  horizon: number;
}

/** OAI-PMH 2.0 on top of the operations. Stateless: a resumption token contains everything the next page needs. */
export function createOaiProvider(operations: Source, settings: OaiSettings): OaiProvider {
  const { baseUrl } = settings;
  const repository = createRepository(operations, settings);

  async function answerTo(given: readonly (readonly [string, string])[]): Promise<string> {
    const request = legal(given);
    if (request instanceof OaiError) return await refuse(request);
    try {
      const { body, horizon } = await repository[request.verb](request);
      return envelope(requestElement(baseUrl(), request), body, horizon);
    } catch (error) {
      if (error instanceof OaiError) return await refuse(error, request);
      throw error;
    }
  }

  /** The arguments of an illegal request aren't repeated in the response. */
  async function refuse(error: OaiError, request?: OaiRequest): Promise<string> {
    const { horizon } = await operations.describePublished();
    return envelope(requestElement(baseUrl(), request), leaf("error", error.message, { code: error.code }), horizon);
  }

  return { answer: answerTo, schema: { file: SCHEMA_FILE, text: RECORD_SCHEMA } };
}

function legal(given: readonly (readonly [string, string])[]): OaiRequest | OaiError {
  try {
    return readRequest(given);
  } catch (error) {
    if (error instanceof OaiError) return error;
    throw error;
  }
}

const requestElement = (baseUrl: string, request?: OaiRequest): Xml =>
  leaf("request", baseUrl, request === undefined ? {} : { verb: request.verb, ...request.args });

const OAI = "http://www.openarchives.org/OAI/2.0/";

const envelope = (request: Xml, body: Xml, horizon: number): string =>
  document(
    element(
      "OAI-PMH",
      {
        xmlns: OAI,
        "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
        "xsi:schemaLocation": `${OAI} http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd`,
      },
      leaf("responseDate", toSeconds(horizon)),
      request,
      body,
    ),
  );

function createRepository(operations: Source, settings: OaiSettings) {
  const { baseUrl, domain } = settings;
  const records = () => recordWriter({ domain: domain(), baseUrl: baseUrl() });

  /** The record with this identifier. */
  async function find(identifier: string): Promise<{ found: PublishedRecord; horizon: number }> {
    const prefix = identifierOf(domain(), "");
    const { record: found, horizon } = identifier.startsWith(prefix)
      ? await operations.getPublished({ submissionId: identifier.slice(prefix.length) })
      : { horizon: 0, record: undefined };
    if (found === undefined) throw new OaiError("idDoesNotExist", "There is no record with this identifier.");
    return { found, horizon };
  }

  async function list({ verb, args }: OaiRequest, write: (harvest: Harvest) => Xml[]): Promise<Answer> {
    const { resumptionToken: token } = args;
    if (token === undefined) formatOf(args.metadataPrefix);
    const query =
      token === undefined
        ? {
            metadataPrefix: args.metadataPrefix ?? "",
            ...rangeOf(args),
            ...(args.set !== undefined && { set: args.set }),
          }
        : { token };
    const harvest = await operations
      .listPublished({ verb, query, content: verb === "ListRecords" })
      .catch((error: unknown) => {
        if (token === undefined || !(error instanceof ContractError) || error.type !== "bad_request") throw error;
        throw new OaiError("badResumptionToken", "The token has expired, was changed, or belongs to another list.");
      });
    if (harvest.records.length === 0) throw new OaiError("noRecordsMatch", "No records match these arguments.");
    return { body: element(verb, {}, ...write(harvest), ...resumption(harvest)), horizon: harvest.horizon };
  }

  return {
    async Identify(): Promise<Answer> {
      const { horizon, earliest } = await operations.describePublished();
      const { repositoryName, adminEmail = `postmaster@${domain()}` } = settings;
      const body = element(
        "Identify",
        {},
        leaf("repositoryName", repositoryName),
        leaf("baseURL", baseUrl()),
        leaf("protocolVersion", "2.0"),
        leaf("adminEmail", adminEmail),
        leaf("earliestDatestamp", toSeconds(earliest)),
        leaf("deletedRecord", "persistent"),
        leaf("granularity", "YYYY-MM-DDThh:mm:ssZ"),
        element("description", {}, identifierScheme(domain(), identifierOf(domain(), SAMPLE))),
      );
      return { body, horizon };
    },
    async ListMetadataFormats({ args }: OaiRequest): Promise<Answer> {
      const { identifier } = args;
      const of = identifier === undefined ? undefined : await find(identifier);
      if (of?.found.isDeleted === true) throw new OaiError("noMetadataFormats", "The record is deleted.");
      const horizon = of?.horizon ?? (await operations.describePublished()).horizon;
      const formats = FORMATS.map(({ prefix, namespace, schema }) =>
        element(
          "metadataFormat",
          {},
          leaf("metadataPrefix", prefix),
          leaf("schema", schema(baseUrl())),
          leaf("metadataNamespace", namespace),
        ),
      );
      return { body: element("ListMetadataFormats", {}, ...formats), horizon };
    },
    async ListSets({ args }: OaiRequest): Promise<Answer> {
      // All sets fit on one page, so no token was ever issued.
      if (args.resumptionToken !== undefined) throw new OaiError("badResumptionToken", "ListSets issues no tokens.");
      const { horizon, sets } = await operations.listPublishedSets();
      if (sets.length === 0)
        throw new OaiError("noSetHierarchy", "Nothing is published here yet, so there are no sets.");
      const elements = sets.map(({ intakeId, name }) =>
        element("set", {}, leaf("setSpec", intakeId), leaf("setName", name)),
      );
      return { body: element("ListSets", {}, ...elements), horizon };
    },
    ListIdentifiers: (request: OaiRequest): Promise<Answer> =>
      list(request, ({ records: found }) => found.map(records().header)),
    ListRecords: (request: OaiRequest): Promise<Answer> =>
      list(request, ({ records: found, query }) => {
        const [{ record }, format] = [records(), formatOf(query.metadataPrefix)];
        return found.map((one) => record(one, format));
      }),
    async GetRecord({ args }: OaiRequest): Promise<Answer> {
      const { found, horizon } = await find(args.identifier ?? "");
      return { body: element("GetRecord", {}, records().record(found, formatOf(args.metadataPrefix))), horizon };
    },
  };
}

const SAMPLE = "sub_01957a3c-6e2f-7c41-9d3a-5f0b7c2e8a14";

function formatOf(prefix: string | undefined): MetadataFormat {
  const format = FORMATS.find((one) => one.prefix === prefix);
  if (format === undefined) throw new OaiError("cannotDisseminateFormat", "Records are not available in this format.");
  return format;
}

/** An empty token ends a list of several pages; a list with a single page has none. */
function resumption({ next, cursor, total }: Harvest): Xml[] {
  if (next === undefined && cursor === 0) return [];
  const expirationDate = next && toSeconds(next.expiresAt);
  return [
    element("resumptionToken", { expirationDate, completeListSize: total.count, cursor }, text(next?.token ?? "")),
  ];
}

const IDENTIFIER = "http://www.openarchives.org/OAI/2.0/oai-identifier";

const identifierScheme = (domain: string, sample: string): Xml =>
  element(
    "oai-identifier",
    {
      xmlns: IDENTIFIER,
      "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
      "xsi:schemaLocation": `${IDENTIFIER} http://www.openarchives.org/OAI/2.0/oai-identifier.xsd`,
    },
    leaf("scheme", "oai"),
    leaf("repositoryIdentifier", domain),
    leaf("delimiter", ":"),
    leaf("sampleIdentifier", sample),
  );
