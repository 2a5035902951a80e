/** Something that a user of the contract may rely on. Tests cite the id; a promise that no test cites is not kept. */
export interface ContractPromise {
  id: string;
  says: string;
}
