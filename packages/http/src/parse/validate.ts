import { ContractError } from "@formbridge/core";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import Type, { type TObject, type TSchema } from "typebox";

const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** RFC 3339, limited to times that we can store: no leap seconds, no year 10000. */
function isMoment(text: string): boolean {
  const at = DATE_TIME.test(text) ? Date.parse(text) : Number.NaN;
  return at >= 0 && at <= LATEST;
}

const compiler = (options: { coerceTypes: boolean }): Ajv2020 => {
  const ajv = new Ajv2020({ ...options, strict: false, allErrors: false });
  addFormats.default(ajv);
  ajv.addFormat("date-time", isMoment);
  return ajv;
};
const bodies = compiler({ coerceTypes: false });
const queries = compiler({ coerceTypes: true });

/** Validates against the wire schema; a mismatch is a 400 that names the path. */
export type Check = (value: unknown) => void;

export const checkBody = (schema: TSchema): Check => check(() => bodies.compile(schema), "The body");
export const checkQuery = (schema: TSchema): Check => check(() => queries.compile(schema), "The query");

/** The query of a link: unknown parameters are dropped, known ones are validated. */
export function checkLinkQuery(schema: TSchema = Type.Object({})): Check {
  const { properties } = schema as TObject;
  const checkKnown = checkQuery(schema);
  return (query) => {
    const given = query as Record<string, unknown>;
    for (const name of Object.keys(given)) {
      if (!Object.hasOwn(properties, name)) delete given[name];
    }
    checkKnown(given);
  };
}

/** Compiled on first use, because compiling all of them would delay the start. */
function check(compile: () => ValidateFunction, what: string): Check {
  let compiled: ValidateFunction | undefined;
  return (value) => {
    compiled ??= compile();
    const validate = compiled;
    if (validate(value)) return;
    const [error] = validate.errors ?? [];
    const place = placeOf(error);
    throw new ContractError("bad_request", `${what}${place === "" ? "" : ` at ${place}`} ${wordsOf(error)}.`, {
      ...(place !== "" && {
        fields: [{ path: place, code: "custom" as const, message: `${place} ${wordsOf(error)}.` }],
      }),
    });
  };
}

const placeOf = (error: ErrorObject | undefined): string => {
  const path = (error?.instancePath ?? "").slice(1).replaceAll("/", ".");
  const extra: unknown = error?.params.additionalProperty;
  return typeof extra === "string"
    ? [path, extra]
        .filter((part) => part !== "")
        .join(".")
        .slice(0, 200)
    : path;
};

function wordsOf(error: ErrorObject | undefined): string {
  if (error?.keyword === "additionalProperties") return "is not known here";
  if (error?.keyword === "enum") return `must be one of ${(error.params.allowedValues as unknown[]).join(", ")}`;
  return error?.message ?? "does not fit";
}
