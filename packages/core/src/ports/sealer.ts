/** Text under authenticated encryption, with the id of the key that sealed it. */
export type Sealed = string;

export interface Sealer {
  /** `bound` is authenticated too: what was sealed for one place can't be opened at another. */
  seal(plain: string, bound: string): Sealed;
  /** Throws when the key is unknown, the text was changed, or `bound` differs. */
  open(sealed: Sealed, bound: string): string;
}
