import { ERROR_TYPES, ErrorBodySchema, type ErrorType } from "@formbridge/contract";
import type { TObject, TSchema } from "typebox";
import { STATUS } from "./error-map.ts";
import { CSV, isPagedList, JSON_LINES } from "./list-export.ts";
import { headerComponents, headerParameters, headersOf, plainHeadersOf } from "./openapi-headers.ts";
import { uploadPaths } from "./openapi-uploads.ts";
import type { Route } from "./route.ts";
import { ROUTES } from "./routes.ts";
import { SESSION_COOKIE } from "./session-cookie.ts";

type Document = Record<string, unknown>;

/** The contract as OpenAPI 3.1, from the same schemas that validate requests. */
export function createOpenApi(about: { version: string; publicUrl: string }): Document {
  const paths: Record<string, Record<string, Document>> = {};
  for (const route of ROUTES) {
    const path = route.path.replace(/:([A-Za-z]+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "FormBridge",
      version: about.version,
      description:
        "Agents and humans fill in a submission together; reviewers approve it; it is delivered with one id.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: about.publicUrl }],
    paths: { ...paths, ...uploadPaths((errors) => failures(errors, plainHeadersOf)), ...serverPaths() },
    components: {
      schemas: { Error: plain(ErrorBodySchema) },
      headers: headerComponents(),
      securitySchemes: {
        key: {
          type: "http",
          scheme: "bearer",
          description: "An API key (fbk_ and 43 characters), or a JWT from an issuer that the operator trusts.",
        },
        token: {
          type: "apiKey",
          in: "header",
          name: "If-Match",
          description: "A resume token: rtok_ and 43 characters. It may also be in the path or the body.",
        },
        session: { type: "http", scheme: "bearer", description: "A hand-off session: sess_ and 43 characters." },
        sessionCookie: {
          type: "apiKey",
          in: "cookie",
          name: SESSION_COOKIE,
          description: "The same in a browser. A write also needs the Origin of one of our pages.",
        },
      },
    },
  };
}

/** Schemas contain symbols of their library; a round trip through JSON drops them. */
const plain = (schema: TSchema): Document => JSON.parse(JSON.stringify(schema)) as Document;

function operation(route: Route): Document {
  return {
    operationId: route.id,
    summary: route.summary,
    tags: [tagOf(route)],
    security: securityOf(route),
    parameters: [...pathParameters(route), ...queryParameters(route), ...headerParameters(route)],
    ...(route.body && { requestBody: requestBody(route.body) }),
    responses: { ...success(route), ...failures(route.errors, (status) => headersOf(route, status)) },
  };
}

const tagOf = ({ path }: Route): string => path.split("/")[1] ?? "";

function securityOf({ opensWith }: Route): Document[] {
  if (opensWith === "key") return [{ key: [] }];
  if (opensWith === "token") return [{ token: [] }, {}];
  if (opensWith === "key unless public") return [{ key: [] }, {}];
  if (opensWith === "link") return [{}];
  const inSession = [{ session: [] }, { sessionCookie: [] }];
  if (opensWith === "session") return inSession;
  if (opensWith === "token or session") return [{ token: [] }, ...inSession];
  const both = [{ key: [] }, { token: [] }];
  return opensWith === "token or key" ? both : [...both, ...inSession];
}

const PATH_EXAMPLES: Record<string, string> = {
  intakeId: "contact",
  ref: "sub_01977d3e-8c00-7000-8000-000000000001",
  uploadId: "upl_01977d3e-8c00-7000-8000-000000000002",
  keyId: "key_01977d3e-8c00-7000-8000-000000000003",
  handoffId: "hof_01977d3e-8c00-7000-8000-000000000004",
  webhookId: "whk_01977d3e-8c00-7000-8000-000000000005",
  token: "rtok_4WcQ8yq1sVxvJr2mB7nT0pLdK5hGfE3aZ9uXiYoCwNs",
  link: "rvw_4WcQ8yq1sVxvJr2mB7nT0pLdK5hGfE3aZ9uXiYoCwNs",
};

function pathParameters({ path, opensWith }: Route): Document[] {
  return [...path.matchAll(/:([A-Za-z]+)/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description:
      name === "ref" ? (opensWith === "token" ? "A resume token." : "A submission id, or a resume token.") : name,
    schema: { type: "string" },
    example: PATH_EXAMPLES[name] ?? name,
  }));
}

function queryParameters({ query }: Route): Document[] {
  if (query === undefined) return [];
  return Object.entries((query as TObject).properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: false,
    schema: plain(schema),
  }));
}

function requestBody(schema: TSchema): Document {
  const { examples, ...rest } = plain(schema) as { examples?: unknown[] };
  const [example] = examples ?? [];
  const required = ((schema as TObject).required ?? []).length > 0;
  return { required, content: { "application/json": { schema: rest, ...(example !== undefined && { example }) } } };
}

function success(route: Route): Document {
  const content: Document = { "application/json": { schema: plain(route.response) } };
  if (route.id.startsWith("getEvents")) {
    content["application/x-ndjson"] = { schema: { type: "string" } };
    content["text/event-stream"] = { schema: { type: "string" } };
  }
  if (isPagedList(route)) content[JSON_LINES] = { schema: { type: "string", description: "The whole list." } };
  if (route.asCsv === true)
    content[CSV] = { schema: { type: "string", description: "The whole list of one intake, as a table." } };
  if (route.page !== undefined)
    content["text/html"] = { schema: { type: "string", description: "For a browser: the page." } };
  return {
    "200": { description: "Done.", headers: headersOf(route, 200), content },
    ...(route.creates && { "201": { description: "Created.", headers: headersOf(route, 201), content } }),
    ...(headerParameters(route).some(({ name }) => name === "If-None-Match") && {
      "304": { description: "Nothing changed.", headers: headersOf(route, 304) },
    }),
  };
}

/** Errors that any request can cause, such as an invalid credential, or a session cookie sent from a foreign page. */
const ALWAYS: readonly ErrorType[] = [
  "bad_request",
  "unauthorized",
  "forbidden",
  "payload_too_large",
  "unsupported_media_type",
  "headers_too_large",
  "internal_error",
];

function failures(errors: readonly ErrorType[], headers: (status: number) => Document): Document {
  const byStatus = Map.groupBy(new Set([...errors, ...ALWAYS]), (type) => String(STATUS[type]));
  return Object.fromEntries(
    [...byStatus].map(([status, types]) => [
      status,
      {
        description: types.map((type) => `\`${type}\`: ${ERROR_TYPES[type].meaning}`).join(" "),
        headers: headers(Number(status)),
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      },
    ]),
  );
}

function serverPath(operationId: string, summary: string, properties: Document): Document {
  const schema = { type: "object", required: ["ok"], properties: { ok: { type: "boolean" }, ...properties } };
  const content = { "application/json": { schema } };
  const headers = plainHeadersOf(200);
  const responses = {
    ...failures([], plainHeadersOf),
    "200": { description: "Yes.", headers, content },
    "503": { description: "Not now.", headers, content },
  };
  return { get: { operationId, summary, tags: ["server"], responses } };
}

const HEALTH = {
  type: "object",
  required: ["healthy", "latencyMs"],
  properties: {
    healthy: { type: "boolean" },
    latencyMs: { type: "number" },
    clockSkewMs: { type: "number" },
    detail: { type: "string" },
    optional: { type: "boolean", description: "The server works without it as well." },
  },
};

const serverPaths = (): Document => ({
  "/healthz": serverPath("healthz", "Is the process up?", {
    version: { type: "string" },
    staging: {
      const: true,
      description: "Only on a server that was started for tests: formbridge chaos may run on it.",
    },
  }),
  "/readyz": serverPath("readyz", "Are the stores reachable?", {
    stores: { type: "object", additionalProperties: HEALTH },
  }),
});
