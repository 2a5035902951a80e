import type { IntakeResponse } from "@formbridge/contract";
import type { StoredIntake } from "../../ports/intakes.ts";

/**
 * A definition without its secrets: keys, headers and credentials, which nobody is shown; and, but for an admin, where it is
 * delivered and who reviews it.
 */
export function viewOf(
  stored: Pick<StoredIntake, "definition" | "retired" | "source">,
  { forAdmin }: { forAdmin: boolean },
): IntakeResponse["intake"] {
  const { destination, eventWebhooks, approvalGates, ...open } = stored.definition;
  const { secret: _secret, headers: _headers, url, ...target } = destination;
  return {
    ...open,
    destination: forAdmin
      ? { ...target, ...(url !== undefined && { url: withoutCredentials(url) }) }
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

/** `amqp://user:password@host` is common for queues, a key in the query for webhooks. */
export function withoutCredentials(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  parsed.username = "";
  parsed.password = "";
  parsed.search = "";
  return parsed.href;
}
