import type { IntakeDefinition, Json, JsonObject } from "@formbridge/contract";
import type { Instant } from "./instant.ts";
import type { CompiledIntake } from "./intake/compiled-intake.ts";
import type { Submission } from "./submission.ts";

/**
 *   finalized ──▶ live ◀──▶ withdrawn     the intake leaves `oai.set`, or takes it back
 *                  │            │
 *                  └── erased ◀─┘         the submission was erased; final
 *
 * All but `live` are tombstones: harvesters see a deleted record, permanently.
 */
export type PublicationStatus = "live" | "withdrawn" | "erased";

/** The publication of a finalized submission. It outlives the submission. */
export interface Publication {
  tenant: string;
  submissionId: string;
  intakeId: string;
  /** When the record appeared, changed or was deleted, by the store's clock, in the same transaction. */
  stampedAt: Instant;
  status: PublicationStatus;
  /** Of a live one. */
  content?: PublishedContent;
}

/** What a commit makes of a publication. */
export type Publishing = { status: "live"; content: PublishedContent } | { status: "erased" };

export const isPublished = ({ oai }: IntakeDefinition): boolean => oai?.set === true;

/**
 * What a change means for its submission's publication, if anything. The submission's own definition decides: what was
 * filled in before the intake was published stays private.
 */
export function publishing(
  before: Submission,
  after: Submission,
  /** `stored`: the submission after the change, without its sensitive values. */
  { stored, intake }: { stored: Submission; intake: CompiledIntake },
): Publishing | undefined {
  if (stored.state !== "finalized" || !isPublished(intake.definition)) return undefined;
  if (after.erasedAt !== undefined) return before.erasedAt === undefined ? { status: "erased" } : undefined;
  // Erasing a person may remove files from the record, which changes it.
  if (before.state === "finalized" && before.fields === after.fields) return undefined;
  return { status: "live", content: publishedContent(stored, intake) };
}

/**
 * The content of a record: only the fields that the definition lists for it. It is stored beside the stamp, which costs
 * the space of a second copy: a harvest then reads one small row per record instead of the whole submission and its
 * definition, and takes half the time.
 */
export interface PublishedContent {
  intakeName: string;
  intakeVersion: string;
  submittedAt: Instant;
  finalizedAt: Instant;
  /** By Dublin Core element. */
  dc: Record<string, string[]>;
  fields: { path: string; value: Json }[];
}

function publishedContent(submission: Submission & { state: "finalized" }, intake: CompiledIntake): PublishedContent {
  const { dc = {}, fields = [] } = intake.definition.oai ?? {};
  const values = new Map<string, Json>();
  for (const path of [...Object.values(dc), ...fields]) {
    const value = openPart(submission.fields, intake.pathOf(path), intake);
    if (value !== undefined) values.set(path, value);
  }
  const elements = Object.entries(dc).map(([element, path]) => [element, textsOf(values.get(path))] as const);
  return {
    intakeName: intake.definition.name,
    intakeVersion: submission.intakeVersion,
    submittedAt: submission.submittedAt,
    finalizedAt: submission.finalizedAt,
    dc: Object.fromEntries(elements.filter(([, texts]) => texts.length > 0)),
    fields: Array.from(values, ([path, value]) => ({ path, value })),
  };
}

/** The value at a path without anything sensitive, whatever the definition lists. */
function openPart(fields: JsonObject, path: readonly string[], intake: CompiledIntake): Json | undefined {
  let value: Json | undefined = fields;
  for (const segment of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, segment)) return undefined;
    value = (value as JsonObject)[segment];
  }
  if (value === undefined || !(intake.hasSensitive || intake.hasFiles)) return value;
  return withoutSensitive(value, path, intake);
}

function withoutSensitive(value: Json, path: readonly string[], intake: CompiledIntake): Json | undefined {
  const { sensitive, file } = intake.ruleAt(path);
  if (sensitive) return undefined;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => {
      const open = withoutSensitive(item, [...path, String(index)], intake);
      return open === undefined ? [] : [open];
    });
  }
  if (file !== undefined) return { filename: value.filename ?? null, mimeType: value.mimeType ?? null };
  const members = Object.entries(value).flatMap(([name, inner]) => {
    const open = withoutSensitive(inner, [...path, name], intake);
    return open === undefined ? [] : [[name, open] as const];
  });
  return Object.fromEntries(members);
}

/** Dublin Core repeats an element for each value. It has no form for objects, so take the texts inside. */
function textsOf(value: Json | undefined): string[] {
  if (value === undefined || value === null || value === "") return [];
  if (typeof value !== "object") return [String(value)];
  return Object.values(value).flatMap(textsOf);
}
