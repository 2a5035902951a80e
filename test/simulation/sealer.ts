import type { JsonObject } from "@formbridge/contract";
import type { Sealed, Sealer, SubmissionRow } from "@formbridge/core";

const GAP = "\n";

/** Seals nothing, but refuses what was sealed for another place: the simulation is about order, not about ciphers. */
export const plainSealer: Sealer = {
  isNewest: () => true,
  knows: () => true,
  seal: (plain, bound) => bound + GAP + plain,
  open(sealed, bound) {
    if (!sealed.startsWith(bound + GAP)) throw new Error(`sealed for another place than ${bound}`);
    return sealed.slice(bound.length + GAP.length);
  },
};

const openSealed = (sealed: Sealed): string => sealed.slice(sealed.indexOf(GAP) + GAP.length);

/** The fields of a row with its sensitive values back. Only top-level ones are sensitive here: `/secret` is `secret`. */
export function fieldsOf({ submission, sealedFields }: SubmissionRow): JsonObject {
  if (sealedFields === undefined) return submission.fields;
  const sealed = Object.entries(JSON.parse(openSealed(sealedFields)) as JsonObject);
  return { ...submission.fields, ...Object.fromEntries(sealed.map(([pointer, value]) => [pointer.slice(1), value])) };
}
