import type { ReactElement } from "react";
import type { ShownIntake } from "./intake-texts.ts";
import { labelOf } from "./labels.ts";
import { itemOf, propertiesOf, resolved, type Schema } from "./schema.ts";

/** The words that values are put into. */
export type ValueTexts = (id: "form.yes" | "form.no") => string;

export interface Leaf {
  path: string;
  label: string;
  value: unknown;
  /** The value in words; undefined when there is none. */
  text: string | undefined;
  isSensitive: boolean;
}

/** An object, a list, or one item of a list. */
export interface Group {
  path: string;
  label: string;
  children: ValueNode[];
}

export type ValueNode = Leaf | Group;
export const isGroup = (node: ValueNode): node is Group => "children" in node;

const isFile = (value: unknown): boolean => typeof value === "object" && value !== null && "uploadId" in value;
const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isFile(value) && !("masked" in value);

/** The values of a submission as the form groups and names them. With `empty`, also the fields that have none. */
export function treeOf(
  fields: Record<string, unknown>,
  intake: ShownIntake,
  { t, empty = false }: { t: ValueTexts; empty?: boolean },
): ValueNode[] {
  const root = intake.schema as Schema;
  const hints = intake.uiHints?.fieldHints ?? {};
  const visitObject = (value: Schema, schema: Schema | undefined, path: readonly string[]): ValueNode[] => {
    const properties = propertiesOf(schema, root);
    const order = (name: string): number => hints[[...path, name].join(".")]?.order ?? Number.MAX_SAFE_INTEGER;
    const names = [...new Set([...Object.keys(properties), ...Object.keys(value)])];
    return names
      .toSorted((one, other) => order(one) - order(other))
      .flatMap((name) => visit(value[name], resolved(properties[name], root), [...path, name]));
  };
  const visit = (value: unknown, schema: Schema | undefined, path: readonly string[]): ValueNode[] => {
    const dotted = path.join(".");
    const label = hints[dotted]?.label ?? String(schema?.title ?? path.at(-1) ?? "");
    if (isObject(value)) return group({ path: dotted, label, children: visitObject(value, schema, path) });
    if (Array.isArray(value) && value.some(isObject)) {
      const children = value.map((item, index) => {
        const items = itemOf(schema, index, root);
        const at = [...path, String(index)];
        const inside = isObject(item) ? visitObject(item, items, at) : visit(item, items, at);
        return { path: at.join("."), label: `${label} ${index + 1}`, children: inside };
      });
      return group({ path: dotted, label, children });
    }
    const isEmpty = value === undefined || (Array.isArray(value) && value.length === 0);
    if (isEmpty && (!empty || schema === undefined || schema.properties !== undefined)) return [];
    const text = isEmpty ? undefined : inWords(value, { schema, options: hints[dotted]?.options, t });
    return [{ path: dotted, label, value, text, isSensitive: schema?.["x-sensitive"] === true }];
  };
  return visitObject(fields, root, []);
}

const group = (found: Group): ValueNode[] => (found.children.length === 0 ? [] : [found]);

export const leavesOf = (nodes: readonly ValueNode[]): Leaf[] =>
  nodes.flatMap((node) => (isGroup(node) ? leavesOf(node.children) : [node]));

export interface Section {
  id: string;
  /** Absent for what no step has. */
  title?: string;
  description?: string;
  nodes: ValueNode[];
}

/** The values by the steps of the form, then what no step shows. */
export function sectionsOf(nodes: readonly ValueNode[], intake: ShownIntake): Section[] {
  const steps = intake.uiHints?.steps ?? [];
  const isIn = (fields: readonly string[], path: string): boolean =>
    fields.some((field) => path === field || path.startsWith(`${field}.`));
  const pick = (from: readonly ValueNode[], wants: (path: string) => boolean): ValueNode[] =>
    from.flatMap((node) =>
      isGroup(node) ? group({ ...node, children: pick(node.children, wants) }) : wants(node.path) ? [node] : [],
    );
  const shown = steps.map(({ fields, ...step }) => ({ ...step, nodes: pick(nodes, (path) => isIn(fields, path)) }));
  const rest = pick(nodes, (path) => !steps.some(({ fields }) => isIn(fields, path)));
  return [...shown, { id: "", nodes: rest }].filter((section) => section.nodes.length > 0);
}

/** What was filled in, as a list to read: labels from the form with the groups they are in, values in words. */
export const rowsOf = (fields: Record<string, unknown>, intake: ShownIntake, { t }: { t: ValueTexts }): Leaf[] =>
  leavesOf(treeOf(fields, intake, { t })).map((leaf) => ({ ...leaf, label: labelOf(intake, leaf.path) }));

interface Wording {
  schema?: Schema | undefined;
  /** Labels of the choices of an enum, by value. */
  options?: Record<string, string> | undefined;
  t: ValueTexts;
}

export function inWords(value: unknown, { schema, options = {}, t }: Wording): string {
  if (Array.isArray(value)) {
    const items = schema?.items as Schema | undefined;
    return value.map((item) => inWords(item, { schema: items, options, t })).join("\n");
  }
  const label = Object.hasOwn(options, String(value)) ? options[String(value)] : undefined;
  if (label !== undefined && typeof value !== "object") return label;
  const choices = [schema?.oneOf, schema?.anyOf].flatMap((list) => (list ?? []) as Schema[]);
  const choice = choices.find((each) => each.const === value && typeof each.title === "string");
  if (choice !== undefined) return String(choice.title);
  if (value === true) return t("form.yes");
  if (value === false) return t("form.no");
  if (typeof value !== "object" || value === null) return String(value ?? "");
  if ("filename" in value) return String(value.filename);
  if ("masked" in value) return "•••";
  return Object.entries(value)
    .map(([name, member]) => `${name}: ${inWords(member, { t })}`)
    .join(", ");
}

interface ValuesProps {
  rows: readonly Leaf[];
  /** Lets the reader go back to a field. */
  change?: { label: string; goTo(path: string): void };
}

export function Values({ rows, change }: ValuesProps): ReactElement {
  return (
    <dl className="pg-values">
      {rows.map(({ path, label, text }) => (
        <div key={path}>
          <dt>{label}</dt>
          <dd>{text}</dd>
          {change !== undefined && (
            <dd className="pg-values-change">
              <button type="button" className="pg-link" onClick={() => change.goTo(path)}>
                {change.label}
                <span className="fb-sr"> {label}</span>
              </button>
            </dd>
          )}
        </div>
      ))}
    </dl>
  );
}
