/** What is done in one turn of the event loop: with the largest answers some milliseconds. */
const MAX_A_TURN = 16;

/** Puts off what can wait, a little in each turn of the event loop, so that everything else comes in between. */
export class Turns {
  #waiting: (() => void)[] = [];

  /** @param task must not throw */
  add(task: () => void): void {
    if (this.#waiting.push(task) === 1) setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    const tasks = this.#waiting.slice(0, MAX_A_TURN);
    this.#waiting = this.#waiting.slice(MAX_A_TURN);
    if (this.#waiting.length > 0) setImmediate(this.#turn);
    for (const task of tasks) task();
  };
}
