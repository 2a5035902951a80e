/**
 * Something that a user of the contract can rely on. Tests cite the id; a promise that no test cites doesn't count as
 * kept.
 */
export interface ContractPromise {
  id: string;
  says: string;
}
