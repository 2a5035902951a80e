export type Schema = Record<string, unknown>;

const MAX_REFERENCES = 20;

/** What a reference inside the schema stands for, with what stands beside it. */
export function resolved(schema: Schema | undefined, root: Schema): Schema | undefined {
  let here = schema;
  for (let hops = 0; typeof here?.$ref === "string" && hops < MAX_REFERENCES; hops++) {
    const { $ref, ...beside }: Schema = here;
    const segments = String($ref).replace(/^#\/?/, "").split("/").filter(Boolean);
    const target = segments.reduce<unknown>(
      (at, name) => (at as Schema | undefined)?.[name.replaceAll("~1", "/").replaceAll("~0", "~")],
      root,
    );
    here = { ...(target as Schema | undefined), ...beside };
  }
  return here;
}

/** Every property that the schema names, also in alternatives and conditions. */
export function propertiesOf(schema: Schema | undefined, root: Schema, depth = 0): Record<string, Schema> {
  const here = resolved(schema, root);
  if (here === undefined || depth > MAX_REFERENCES) return {};
  const parts = [here.if, here.then, here.else, ...["allOf", "anyOf", "oneOf"].flatMap((name) => here[name] ?? [])];
  const found = parts.map((part) => propertiesOf(part as Schema | undefined, root, depth + 1));
  // The schema's own order comes first, whatever its conditions name.
  return Object.assign({}, here.properties, ...found, here.properties) as Record<string, Schema>;
}

/** The schema of one item of a list. */
export function itemOf(list: Schema | undefined, index: number, root: Schema): Schema | undefined {
  return resolved((list?.prefixItems as Schema[] | undefined)?.[index] ?? (list?.items as Schema | undefined), root);
}
