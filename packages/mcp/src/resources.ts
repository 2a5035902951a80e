import type { IntakeResponse } from "@formbridge/contract";
import { type Caller, ContractError, type Operations, type Target } from "@formbridge/core";

const INTAKES = "formbridge://intakes/";
const SUBMISSIONS = "formbridge://submissions/";
const JSON_TYPE = "application/json";
const SCHEMA_TYPE = "application/schema+json";

/** Intakes are listed; submissions have to be named by their id. We never put a token into a URI. */
export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: `${INTAKES}{intakeId}`,
    name: "intake",
    title: "Intake",
    description: "What an intake asks for, without its secrets.",
    mimeType: JSON_TYPE,
  },
  {
    uriTemplate: `${INTAKES}{intakeId}/schema`,
    name: "intake_schema",
    title: "Schema of an intake",
    description: "Its JSON Schema.",
    mimeType: SCHEMA_TYPE,
  },
  {
    uriTemplate: `${SUBMISSIONS}{submission}`,
    name: "submission",
    title: "Submission",
    description: "By its resume token, or by its id with a key that may see it.",
    mimeType: JSON_TYPE,
  },
  {
    uriTemplate: `${SUBMISSIONS}{submission}/events`,
    name: "submission_events",
    title: "History of a submission",
    description: "By its resume token, or by its id with a key that may see it. The first 1,000 events.",
    mimeType: JSON_TYPE,
  },
];

export const listedResources = (intakes: readonly { definition: IntakeResponse["intake"] }[]) =>
  intakes.flatMap(({ definition: { id, name, description } }) => [
    {
      uri: `${INTAKES}${id}`,
      name: id,
      title: name,
      ...(description !== undefined && { description }),
      mimeType: JSON_TYPE,
    },
    { uri: `${INTAKES}${id}/schema`, name: `${id}_schema`, title: `${name}: schema`, mimeType: SCHEMA_TYPE },
  ]);

const REF = /^formbridge:\/\/(intakes|submissions)\/([^/?#]{1,600})(?:\/(schema|events))?$/;

export interface ReadResource {
  operations: Operations;
  caller: Caller;
  uri: string;
}

/**
 * The content of a resource, with the same operations and permissions as everywhere. Undefined if no resource has this
 * URI.
 */
export async function readResource(read: ReadResource): Promise<{ mimeType: string; text: string } | undefined> {
  const [, kind, name = "", part] = REF.exec(read.uri) ?? [];
  if (kind === "intakes" && part !== "events") return await readIntake(read, name, part === "schema");
  if (kind === "submissions" && part !== "schema") return await readSubmission(read, name, part === "events");
  return undefined;
}

async function readIntake({ operations, caller }: ReadResource, intakeId: string, schemaOnly: boolean) {
  if (!schemaOnly) return asText((await operations.getIntake({ caller, intakeId })).body);
  const { body } = await operations.getIntakeSchema({ caller, intakeId });
  return { mimeType: SCHEMA_TYPE, text: JSON.stringify(body.schema) };
}

async function readSubmission({ operations, ...read }: ReadResource, name: string, events: boolean) {
  const caller: Caller = { ...read.caller, forModel: true };
  const ref = decoded(name);
  const target: Target = ref.startsWith("rtok_")
    ? { tokens: [ref], versions: [] }
    : { submissionId: ref, tokens: [], versions: [] };
  if (!events) return asText((await operations.getSubmission({ caller, target })).body);
  return asText((await operations.getEvents({ caller, target, query: { limit: 1_000 } })).body);
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    throw new ContractError("not_found", "This submission doesn't exist, or you may not see it.");
  }
}

const asText = (body: unknown) => ({ mimeType: JSON_TYPE, text: JSON.stringify(body) });
