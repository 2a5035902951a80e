import type { SubmissionSummary } from "@formbridge/contract";
import { isObject, type SchemaNode, schemaViewOf } from "@formbridge/core";
import { csvLine } from "./csv.ts";

/** The submissions of one intake as CSV. */
export interface SubmissionTable {
  header: string;
  row(submission: SubmissionSummary): string;
}

const FIXED: Record<string, (submission: SubmissionSummary) => unknown> = {
  submissionId: ({ submissionId }) => submissionId,
  state: ({ state }) => state,
  version: ({ version }) => version,
  createdAt: ({ createdAt }) => createdAt,
  updatedAt: ({ updatedAt }) => updatedAt,
  expiresAt: ({ expiresAt }) => expiresAt,
  erasedAt: ({ erasedAt }) => erasedAt,
  "createdBy.kind": ({ createdBy }) => createdBy.kind,
  "createdBy.id": ({ createdBy }) => createdBy.id,
  "lastUpdatedBy.kind": ({ lastUpdatedBy }) => lastUpdatedBy.kind,
  "lastUpdatedBy.id": ({ lastUpdatedBy }) => lastUpdatedBy.id,
  missingCount: ({ missingCount }) => missingCount,
};
/** Values without a column: of an earlier version of the schema, or that it allows without declaring them. */
const OTHER = "otherFields";

/** A tree of field names that leads to each field's column. */
type Places = Map<string, Places | number>;

/** Without a schema the table has no values. */
export function submissionTable(schema: SchemaNode | undefined): SubmissionTable {
  const fixed = Object.values(FIXED);
  if (schema === undefined) {
    return { header: csvLine(Object.keys(FIXED)), row: (submission) => csvLine(fixed.map((cell) => cell(submission))) };
  }
  const paths = schemaViewOf(schema).leaves();
  const places = placesOf(paths);
  return {
    header: csvLine([...Object.keys(FIXED), ...paths.map(titleOf), OTHER]),
    row(submission) {
      const cells = new Array<unknown>(paths.length).fill(undefined);
      const rest = new Map<string, unknown>();
      spread(submission.fields ?? {}, { places, path: [], cells, rest });
      const other = rest.size > 0 ? Object.fromEntries(rest) : undefined;
      return csvLine([...fixed.map((cell) => cell(submission)), ...cells, other]);
    },
  };
}

function placesOf(paths: readonly (readonly string[])[]): Places {
  const root: Places = new Map();
  for (const [column, path] of paths.entries()) {
    let here = root;
    for (const name of path.slice(0, -1)) {
      const next = here.get(name);
      const inner: Places = next instanceof Map ? next : new Map();
      here.set(name, inner);
      here = inner;
    }
    here.set(path.at(-1) ?? "", column);
  }
  return root;
}

/** A field that is named like a fixed column gets a prefix. */
function titleOf(path: readonly string[]): string {
  const title = path.join(".");
  return title === OTHER || Object.hasOwn(FIXED, title) ? `fields.${title}` : title;
}

interface Spread {
  places: Places;
  path: readonly string[];
  cells: unknown[];
  rest: Map<string, unknown>;
}

function spread(fields: SchemaNode, { places, path, cells, rest }: Spread): void {
  for (const [name, value] of Object.entries(fields)) {
    const place = places.get(name);
    const at = [...path, name];
    if (typeof place === "number") cells[place] = value;
    else if (place !== undefined && isObject(value)) spread(value, { places: place, path: at, cells, rest });
    else rest.set(at.join("."), value);
  }
}
