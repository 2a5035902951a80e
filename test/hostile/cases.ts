import { stray, twins } from "./astray.ts";
import { byOwnerInNonsense, byStranger } from "./on-sentinels.ts";
import { onToy } from "./on-toys.ts";
import type { Operations } from "./operations.ts";
import { createRandom } from "./random.ts";
import type { Case } from "./scene.ts";
import type { World } from "./world.ts";

export interface Generator {
  next(index: number): Case;
}

/** Case `index` of a seed. It depends only on the seed, the index, and the tokens that the toys have by then. */
export function createGenerator(world: World, operations: Operations, seed: number): Generator {
  return {
    next(index) {
      const scene = { world, operations, random: createRandom(seed, index) };
      const roll = scene.random.next();
      if (roll < 0.15) return onToy(scene, { valid: true });
      if (roll < 0.5) return onToy(scene, { valid: false });
      if (roll < 0.7) return byStranger(scene);
      if (roll < 0.87) return byOwnerInNonsense(scene);
      return roll < 0.95 ? stray(scene) : twins(scene);
    },
  };
}
