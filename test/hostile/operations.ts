import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

export type Schema = Record<string, unknown>;

/** One operation of the served document. */
export interface Operation {
  id: string;
  method: string;
  /** `/submissions/{ref}/fields` */
  template: string;
  parameters: readonly { name: string; in: "path" | "query" | "header"; schema: Schema }[];
  body?: { schema: Schema; example?: unknown };
  statuses: ReadonlySet<string>;
  /** Checks a body of success by its media type; undefined: nothing is declared for it. */
  checkSuccess(status: number, mediaType: string): ValidateFunction | undefined;
}

interface Content {
  [mediaType: string]: { schema?: Schema; example?: unknown };
}
interface RawOperation {
  operationId: string;
  parameters?: Operation["parameters"];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
}
export interface OpenApi {
  paths: Record<string, Record<string, RawOperation>>;
  components: { schemas: Record<string, Schema> };
}

export interface Operations {
  all: readonly Operation[];
  /** Which operation a request target reaches; undefined: no documented one. */
  find(method: string, path: string): Operation | undefined;
}

export function createValidator(): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  addFormats.default(ajv);
  return ajv;
}

/** Every path and method of the document, with validators of the declared responses. */
export function readOperations(document: OpenApi): Operations {
  const all = Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, raw]) => readOperation(template, method.toUpperCase(), raw)),
  );
  const patterns = all.map((operation) => ({
    operation,
    pattern: new RegExp(`^${operation.template.replace(/\{[A-Za-z]+\}/g, "[^/?]+")}$`),
  }));
  return {
    all,
    find(method, path) {
      // A target may also be a whole URL (RFC 9112, 3.2.2).
      const [plain = ""] = path.replace(/^https?:\/\/[^/]+/, "").split(/[?#;]/);
      const asked = method === "HEAD" ? "GET" : method;
      return patterns.find(({ operation, pattern }) => operation.method === asked && pattern.test(plain))?.operation;
    },
  };
}

function readOperation(template: string, method: string, raw: RawOperation): Operation {
  const compiled = new Map<string, ValidateFunction | undefined>();
  const content = raw.requestBody?.content["application/json"];
  return {
    id: raw.operationId,
    method,
    template,
    parameters: raw.parameters ?? [],
    ...(content?.schema && { body: { schema: content.schema, example: content.example } }),
    statuses: new Set(Object.keys(raw.responses)),
    checkSuccess(status, mediaType) {
      const name = `${status} ${mediaType}`;
      if (compiled.has(name)) return compiled.get(name);
      const schema = raw.responses[status]?.content?.[mediaType]?.schema;
      // Each in its own validator: the document repeats schemas with an $id.
      const check = schema === undefined ? undefined : createValidator().compile(schema);
      compiled.set(name, check);
      return check;
    },
  };
}
