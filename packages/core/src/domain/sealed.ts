/** Text under authenticated encryption, with the id of the secret that sealed it. */
export type Sealed = string;
