type Later = (ms: number, callback: () => void) => () => void;

const timer: Later = (ms, callback) => {
  const id = setTimeout(callback, ms);
  return () => clearTimeout(id);
};

/** One pending callback. Scheduling another cancels it. */
export class Pause {
  readonly #later: Later;
  #callOff: (() => void) | undefined;

  constructor(later: Later = timer) {
    this.#later = later;
  }

  schedule(ms: number, callback: () => void): void {
    this.callOff();
    this.#callOff = this.#later(ms, callback);
  }

  callOff(): void {
    this.#callOff?.();
    this.#callOff = undefined;
  }
}
