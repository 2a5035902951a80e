import type { Sealed } from "../domain/sealed.ts";

export interface Sealer {
  /** `bound` is authenticated too: a value sealed for one place can't be opened in another. */
  seal(plain: string, bound: string): Sealed;
  /** Throws when the key is unknown, the text was changed, or `bound` differs. */
  open(sealed: Sealed, bound: string): string;
  /** Whether it is sealed with the newest key. */
  isNewest(sealed: Sealed): boolean;
  /** Whether its key is configured. */
  knows(sealed: Sealed): boolean;
}
