/** Runs one read at a time. Requests during a read are merged into one more read. */
export class NewestRead {
  readonly #read: () => Promise<boolean>;
  #isBehind = false;
  #running: Promise<void> | undefined;

  /** `read` returns false when it failed: the read is still due. */
  constructor(read: () => Promise<boolean>) {
    this.#read = read;
  }

  /** The last read failed and hasn't been repeated. */
  get isDue(): boolean {
    return this.#isBehind;
  }

  async refresh(): Promise<void> {
    this.#isBehind = true;
    this.#running ??= this.#catchUp().finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  async #catchUp(): Promise<void> {
    while (this.#isBehind) {
      this.#isBehind = false;
      if (await this.#read()) continue;
      this.#isBehind = true;
      return;
    }
  }
}
