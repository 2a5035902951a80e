import type { FieldHint, IntakeDefinition, Translation } from "@formbridge/contract";
import type { Problems } from "./definition-problems.ts";
import { readFieldPath } from "./field-path.ts";
import { isObject } from "./schema-nodes.ts";
import { createSchemaView, type SchemaView } from "./schema-view.ts";

/** The fifteen elements of Dublin Core, as in oai_dc. */
const DC_ELEMENTS: ReadonlySet<string> = new Set(
  "contributor coverage creator date description format identifier language publisher relation rights source subject title type".split(
    " ",
  ),
);
const COLOR = /^#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i;
const DATA_IMAGE = /^data:image\/(?:png|jpeg|gif|webp|svg\+xml)(?:;base64)?,/;
/** A path on this server; `//host` and `/\host` would lead elsewhere. */
const OWN_PATH = /^\/(?![/\\])[^\s\\]*$/;

type At = readonly string[];

/** How an intake is shown and published: every field it names must exist in the schema. */
export function checkPresentation(definition: IntakeDefinition, problems: Problems): void {
  checkBranding(definition.branding, problems);
  const languages = Object.entries(definition.translations ?? {});
  for (const [tag] of languages) {
    if (!isLanguage(tag)) problems.add(["translations", tag], "is not a BCP 47 language tag", "invalid_format");
  }
  checkStepIds(definition.uiHints?.steps, problems);
  // A broken schema has no fields to compare with, and its problems are already listed.
  if (!isObject(definition.schema) || problems.list.length > 0) return;
  const places = createPlaces(createSchemaView(definition.schema), problems);
  const { steps = [], fieldHints } = definition.uiHints ?? {};
  for (const [index, step] of steps.entries()) {
    for (const [position, field] of step.fields.entries()) {
      places.check(field, ["uiHints", "steps", String(index), "fields", String(position)]);
    }
  }
  places.checkHints(fieldHints, ["uiHints", "fieldHints"]);
  const stepIds = new Set(steps.map(({ id }) => id));
  for (const [tag, { fields, steps: told }] of languages) {
    places.checkHints(fields, ["translations", tag, "fields"]);
    checkSteps(told, { stepIds, at: ["translations", tag, "steps"] }, problems);
  }
  for (const [element, path] of Object.entries(definition.oai?.dc ?? {})) {
    const at = ["oai", "dc", element];
    if (!DC_ELEMENTS.has(element)) problems.add(at, `is not a Dublin Core element: ${element}`);
    else places.checkPublished(path, at);
  }
  for (const [index, path] of (definition.oai?.fields ?? []).entries()) {
    places.checkPublished(path, ["oai", "fields", String(index)]);
  }
}

function createPlaces(view: SchemaView, problems: Problems) {
  const check = (field: string, at: At): void => {
    if (!view.declares(readFieldPath(field, view))) problems.add(at, `is not a field of the schema: ${field}`);
  };
  const checkPublished = (field: string, at: At): void => {
    check(field, at);
    const { sensitive } = view.ruleAt(readFieldPath(field, view));
    if (sensitive) problems.add(at, `is sensitive and can't be published: ${field}`);
  };
  const checkHints = (hints: Record<string, FieldHint> | undefined, at: At): void => {
    for (const field of Object.keys(hints ?? {})) check(field, [...at, field]);
  };
  return { check, checkHints, checkPublished };
}

/** Translations, and the pages, find a step by its id. */
function checkStepIds(steps: NonNullable<IntakeDefinition["uiHints"]>["steps"] = [], problems: Problems): void {
  const ids = new Set<string>();
  for (const [index, { id }] of steps.entries()) {
    if (ids.has(id)) problems.add(["uiHints", "steps", String(index), "id"], `is used by two steps: ${id}`);
    ids.add(id);
  }
}

function checkSteps(
  steps: Translation["steps"],
  { stepIds, at }: { stepIds: ReadonlySet<string>; at: At },
  problems: Problems,
): void {
  for (const id of Object.keys(steps ?? {})) {
    if (!stepIds.has(id)) problems.add([...at, id], `is not a step of uiHints: ${id}`);
  }
}

/** Well-formed according to BCP 47; we don't check whether the language exists. */
function isLanguage(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

function checkBranding({ logo, color }: NonNullable<IntakeDefinition["branding"]> = {}, problems: Problems): void {
  if (color !== undefined && !COLOR.test(color)) {
    problems.add(["branding", "color"], "is not a CSS hex color such as #0a7d5a", "invalid_format");
  }
  if (logo !== undefined && !isLogo(logo)) {
    const says =
      "must be a data: URL of an image (png, jpeg, gif, webp, svg), or a path on this server such as /logo.svg: forms load nothing from other servers";
    problems.add(["branding", "logo"], says, "invalid_format");
  }
}

/** A logo on another server would reveal who opens which form, and the pages' CSP would block it. */
const isLogo = (logo: string): boolean => DATA_IMAGE.test(logo) || OWN_PATH.test(logo);
