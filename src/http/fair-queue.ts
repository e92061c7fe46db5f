/**
 * Queues deferrable tasks and runs a few per turn of the event loop, so that other work is not blocked. Owners alternate: one with
 * many tasks does not hold up others.
 */
export class FairQueue {
  readonly #most: number;
  /** Queued tasks by owner; the first owner is served next. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /** @param most maximum number of tasks in one turn of the event loop */
  constructor(most: number) {
    this.#most = most;
  }

  /** @param task must not throw */
  add(owner: string, task: () => void): void {
    if (this.#waiting.size === 0) setImmediate(this.#run);
    const tasks = this.#waiting.get(owner);
    if (tasks === undefined) this.#waiting.set(owner, [task]);
    else tasks.push(task);
  }

  readonly #run = (): void => {
    const tasks = Array.from({ length: this.#most }, () => this.#next()).filter((task) => task !== undefined);
    // Scheduled before the tasks run, because they may add others.
    if (this.#waiting.size > 0) setImmediate(this.#run);
    for (const task of tasks) task();
  };

  #next(): (() => void) | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const [owner, tasks] = first;
    this.#waiting.delete(owner);
    const task = tasks.shift();
    if (tasks.length > 0) this.#waiting.set(owner, tasks);
    return task;
  }
}
