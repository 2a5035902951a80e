import { isEqual, isObject, pruned } from "./changes.ts";
import type { JsonSchema } from "./prepare-schema.ts";
import { propertyOf } from "./rewrite-alternatives.ts";

/**
 * The alternatives of a `oneOf` or `anyOf` between which a person chooses. Members that are another constant in each of
 * them say which one it is: choosing a variant is choosing these, so they have no field of their own.
 */
export interface Variants {
  schemas: readonly JsonSchema[];
  /** For each variant, its constants by name. */
  constants: readonly Readonly<Record<string, unknown>>[];
}

export function variantsOf(schemas: readonly JsonSchema[]): Variants {
  const [first = {}] = schemas;
  const names = namesIn(first).filter((name) => {
    const values = schemas.map((schema) => constantIn(memberOf(schema, name)));
    return values.every(
      (value, index) => value !== undefined && values.findIndex((each) => isEqual(each, value)) === index,
    );
  });
  return {
    schemas,
    constants: schemas.map((schema) =>
      Object.fromEntries(names.map((name) => [name, constantIn(memberOf(schema, name))])),
    ),
  };
}

const namesIn = ({ properties }: JsonSchema): string[] => Object.keys(isObject(properties) ? properties : {});

function constantIn(schema: JsonSchema | undefined): unknown {
  if (schema === undefined) return undefined;
  if ("const" in schema) return schema.const;
  return Array.isArray(schema.enum) && schema.enum.length === 1 ? schema.enum[0] : undefined;
}

function memberOf(schema: JsonSchema | undefined, name: string): JsonSchema | undefined {
  return schema && propertyOf(schema, name);
}

/** What is left to fill in of a variant. */
export function withoutConstants({ schemas, constants }: Variants, index: number): JsonSchema {
  const schema = schemas[index] ?? {};
  if (!isObject(schema.properties)) return schema;
  const left = Object.entries(schema.properties).filter(([name]) => !Object.hasOwn(constants[index] ?? {}, name));
  return { ...schema, properties: Object.fromEntries(left) };
}

/** The value after choosing a variant, or none. Values that are valid in the new one stay; what only the others have is removed. */
export function valueFor({ schemas, constants }: Variants, index: number | undefined, value: unknown): unknown {
  const next = index === undefined ? undefined : schemas[index];
  const members = Object.entries(isObject(value) ? value : {}).filter(([name]) => {
    const member = memberOf(next, name);
    const others = schemas.map((schema) => memberOf(schema, name)).filter((each) => each !== undefined);
    return member === undefined ? others.length === 0 : others.every((other) => isEqual(other, member));
  });
  return pruned({ ...Object.fromEntries(members), ...(index === undefined ? {} : constants[index]) });
}

/** Which variant a value is of: by its constants, else by the members that it has, else by what it fits. */
export function variantOf(
  { schemas, constants }: Variants,
  value: unknown,
  fits: (schema: JsonSchema, value: unknown) => boolean,
): number | undefined {
  if (pruned(value) === undefined || value === null) return undefined;
  const first = (index: number) => (index === -1 ? undefined : index);
  if (!isObject(value)) return first(schemas.findIndex((schema) => fits(schema, value)));
  const has = (own: Readonly<Record<string, unknown>>) =>
    Object.keys(own).length > 0 && Object.entries(own).every(([name, constant]) => isEqual(value[name], constant));
  const told = constants.findIndex(has);
  if (told !== -1) return told;
  const shared = schemas.map((schema) => Object.keys(value).filter((name) => memberOf(schema, name)).length);
  const most = Math.max(...shared);
  if (most === 0) return undefined;
  const fitting = schemas.findIndex((schema, index) => shared[index] === most && fits(schema, value));
  return fitting === -1 ? shared.indexOf(most) : fitting;
}

/** Whether the value contradicts this variant, so that somebody else must have chosen another one. */
export function contradicts({ schemas, constants }: Variants, index: number, value: unknown): boolean {
  if (pruned(value) === undefined) return false;
  if (!isObject(value)) return isObject(schemas[index]?.properties);
  return Object.entries(constants[index] ?? {}).some(
    ([name, constant]) => Object.hasOwn(value, name) && !isEqual(value[name], constant),
  );
}
