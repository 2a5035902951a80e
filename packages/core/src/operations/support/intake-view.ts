import type { IntakeResponse } from "@formbridge/contract";
import type { StoredIntake } from "../../ports/intakes.ts";

/** A definition without its secrets: those of destination and webhooks, and headers, which may carry credentials. */
export function viewOf(stored: Pick<StoredIntake, "definition" | "retired" | "source">): IntakeResponse["intake"] {
  const { destination, eventWebhooks, ...open } = stored.definition;
  const { secret: _secret, headers: _headers, url, ...target } = destination;
  return {
    ...open,
    destination: { ...target, ...(url !== undefined && { url: withoutCredentials(url) }) },
    ...(eventWebhooks && {
      eventWebhooks: eventWebhooks.map(({ secret: _hidden, url: hook, ...rest }) => ({
        ...rest,
        url: withoutCredentials(hook),
      })),
    }),
    ...(stored.retired && { retired: true }),
    source: stored.source,
  };
}

/** `amqp://user:password@host` is common for queues. */
function withoutCredentials(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  if (parsed.username === "" && parsed.password === "") return url;
  parsed.username = "";
  parsed.password = "";
  return parsed.href;
}
