/** A submission of this run, as the server has acknowledged it. */
export interface Entry {
  submissionId: string;
  token: string;
  version: number;
  text: string;
}

/** What the server has acknowledged, to compare with what it has stored. */
export interface Ledger {
  entries: Entry[];
}
