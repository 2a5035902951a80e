import type { IntakeDefinition } from "@formbridge/contract";
import type { Hash } from "../domain/hashing.ts";
import type { Sealed } from "../domain/sealed.ts";
import type { Intakes, StoredIntake } from "../ports/intakes.ts";
import type { Sealer } from "../ports/sealer.ts";
import { opens } from "./read/open-snapshot.ts";

export const boundToDefinition = (digest: Hash): string => `definition:${digest}`;

type Receivers = Pick<IntakeDefinition, "destination" | "eventWebhooks">;

/**
 * A definition at rest: its receivers are sealed if they contain secrets. The digest is that of the original
 * definition.
 */
export interface DefinitionAtRest extends IntakeDefinition {
  receivers?: Sealed;
}

/** A URL may contain credentials before the host or in its query. */
const isTelling = (url: string | undefined): boolean => url !== undefined && /@|\?/.test(url);

function hasSecrets({ destination, eventWebhooks = [] }: Receivers): boolean {
  const { secret, headers, url } = destination as { secret?: string; headers?: object; url?: string };
  if (secret !== undefined || headers !== undefined || isTelling(url)) return true;
  return eventWebhooks.some((webhook) => webhook.secret !== undefined || isTelling(webhook.url));
}

function close(sealer: Sealer, definition: IntakeDefinition, digest: Hash): DefinitionAtRest {
  if (!hasSecrets(definition)) return definition;
  const { destination, eventWebhooks } = definition;
  const sealed: Receivers = { destination, ...(eventWebhooks && { eventWebhooks }) };
  return {
    ...definition,
    // Placeholders that keep the order of the members.
    destination: { kind: "store" },
    ...(eventWebhooks && { eventWebhooks: [] }),
    receivers: sealer.seal(JSON.stringify(sealed), boundToDefinition(digest)),
  };
}

function openDefinition(sealer: Sealer, atRest: DefinitionAtRest, digest: Hash): IntakeDefinition {
  const { receivers, ...definition } = atRest;
  if (receivers === undefined) return atRest;
  return { ...definition, ...(JSON.parse(sealer.open(receivers, boundToDefinition(digest))) as Receivers) };
}

/** Whether these secrets open the definition's receivers. */
export const opensDefinition = (sealer: Sealer, atRest: DefinitionAtRest, digest: Hash): boolean =>
  opens(() => openDefinition(sealer, atRest, digest));

/** Intakes whose definitions are stored with their receivers' secrets sealed. Definitions stored in plain text are read as they are. */
export function sealIntakes(intakes: Intakes, sealer: Sealer): Intakes {
  const opened = (stored: StoredIntake): StoredIntake => ({
    ...stored,
    definition: openDefinition(sealer, stored.definition, stored.digest),
  });
  return {
    retire: (where) => intakes.retire(where),
    put: (intake, expect) =>
      intakes.put({ ...intake, definition: close(sealer, intake.definition, intake.digest) }, expect),
    async get(id) {
      const stored = await intakes.get(id);
      return stored && opened(stored);
    },
    async definition(digest) {
      const stored = await intakes.definition(digest);
      return stored && openDefinition(sealer, stored, digest);
    },
    count: (where, atMost) => intakes.count(where, atMost),
    list: async (where, limit) => (await intakes.list(where, limit)).map(opened),
  };
}
