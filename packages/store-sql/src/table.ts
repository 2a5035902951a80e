/** How a column is stored. Each store maps a kind to a type of its database. */
export type Kind = "text" | "int" | "bool" | "json" | "hash";

declare const content: unique symbol;
/** A value as JSON text. Stored as text, so it is read back exactly as written, and a copy needn't parse it. */
export type Json<Value> = string & { readonly [content]?: Value };

export const toJson = <Value>(value: Value): Json<Value> => JSON.stringify(value) as Json<Value>;
export const fromJson = <Value>(text: Json<Value>): Value => JSON.parse(text);

/** PostgreSQL's `text` holds no NUL and no half of a surrogate pair: replaces them. */
export const storable = (text: string): string => text.replaceAll("\0", "\ufffd").toWellFormed();

export const docOf = <Value>({ doc }: { doc: Json<Value> }): Value => fromJson(doc);

/** `Value` is the type of the column's values; it exists only at compile time. */
export interface Column<Value> {
  readonly kind: Kind;
  readonly nullable: boolean;
  readonly value?: Value;
}

export interface Table<Columns extends object = object> {
  readonly name: string;
  readonly columns: Columns;
}

export type ColumnOf<T extends Table> = keyof T["columns"] & string;

type ValueOf<C> = C extends Column<infer Value> ? Value : never;

/** A row as every store reads and writes it: texts, numbers, booleans and nulls. */
export type Row<T extends Table> = { [Name in keyof T["columns"]]: ValueOf<T["columns"][Name]> };

export const table = <Columns extends Record<string, Column<unknown>>>(
  name: string,
  columns: Columns,
): Table<Columns> => ({ name, columns });

export const text = <Value extends string = string>(): Column<Value> => ({ kind: "text", nullable: false });
/** Up to 2⁵³; also times, in milliseconds. */
export const int = (): Column<number> => ({ kind: "int", nullable: false });
export const bool = (): Column<boolean> => ({ kind: "bool", nullable: false });
/** SHA-256; hexadecimal in a row. */
export const hash = (): Column<string> => ({ kind: "hash", nullable: false });
export const json = <Value>(): Column<Json<Value>> => ({ kind: "json", nullable: false });

export const nullable = <Value>({ kind }: Column<Value>): Column<Value | null> => ({ kind, nullable: true });

/** The names of all columns, or of all but some. */
export const columnsOf = <T extends Table, Left extends ColumnOf<T> = never>(
  { columns }: T,
  ...without: Left[]
): Exclude<ColumnOf<T>, Left>[] =>
  (Object.keys(columns) as ColumnOf<T>[]).filter(
    (name): name is Exclude<ColumnOf<T>, Left> => !(without as string[]).includes(name),
  );

export const kindOf = <T extends Table>({ columns }: T, name: ColumnOf<T>): Kind =>
  (columns as Record<string, Column<unknown>>)[name]?.kind ?? "text";

/** The values of these columns, in order. */
export const valuesOf = <Name extends string, Value>(names: readonly Name[], row: Record<Name, Value>): Value[] =>
  names.map((name) => row[name]);
