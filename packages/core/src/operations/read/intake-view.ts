import type { GetSubmissionIntakeResponse, IntakeDefinition, IntakeResponse } from "@formbridge/contract";
import type { StoredIntake } from "../../ports/intakes.ts";

/**
 * A definition without its secrets (keys, headers, credentials); for anyone but an admin also without its destination
 * and reviewers.
 */
export function viewOf(
  stored: Pick<StoredIntake, "definition" | "retired" | "source">,
  { forAdmin }: { forAdmin: boolean },
): IntakeResponse["intake"] {
  const { destination, eventWebhooks, approvalGates, ...open } = stored.definition;
  const { secret: _secret, headers: _headers, ...target } = destination;
  return {
    ...open,
    destination: forAdmin
      ? { ...target, ...("url" in target && { url: withoutCredentials(target.url) }) }
      : { kind: destination.kind },
    ...(approvalGates && {
      approvalGates: forAdmin ? approvalGates : approvalGates.map((gate) => ({ ...gate, reviewers: {} })),
    }),
    ...(eventWebhooks &&
      forAdmin && {
        eventWebhooks: eventWebhooks.map(({ secret: _hidden, url: hook, ...rest }) => ({
          ...rest,
          url: withoutCredentials(hook),
        })),
      }),
    ...(stored.retired && { retired: true }),
    source: stored.source,
  };
}

/** What an intake shows to people who fill it in or review it. */
export function presentationOf(definition: IntakeDefinition): GetSubmissionIntakeResponse["intake"] {
  const { id, version, name, description, schema, uiHints, translations, branding, humanProof } = definition;
  return {
    id,
    version,
    name,
    schema,
    ...(description !== undefined && { description }),
    ...(uiHints && { uiHints }),
    ...(translations && { translations }),
    ...(branding && { branding }),
    ...(humanProof && { humanProof }),
  };
}

/** Queue URLs often contain `user:password@`, and webhook URLs a key in the query. */
export function withoutCredentials(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  parsed.username = "";
  parsed.password = "";
  parsed.search = "";
  return parsed.href;
}
