import type { Hash } from "../../domain/hashing.ts";
import { compileIntake } from "../../domain/intake/compile-intake.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import type { Backend } from "../../ports/backend.ts";

const MAX_COMPILED = 500;

/** Definitions by digest, compiled once. A digest identifies its content, so entries never become outdated. */
export interface Catalog {
  byDigest(digest: Hash): Promise<CompiledIntake>;
}

export function createCatalog(backend: Backend): Catalog {
  const compiled = new Map<Hash, CompiledIntake>();
  return {
    async byDigest(digest) {
      const known = compiled.get(digest);
      if (known !== undefined) return known;
      const definition = await backend.intakes.definition(digest);
      if (definition === undefined) throw new Error(`the definition ${digest} of a stored submission is gone`);
      const intake = compileIntake(definition);
      const oldest = compiled.keys().next();
      if (compiled.size >= MAX_COMPILED && oldest.done !== true) compiled.delete(oldest.value);
      compiled.set(digest, intake);
      return intake;
    },
  };
}
