import { setTimeout as wait } from 'node:timers/promises';
import { ConsumeError } from '../../component/consume-error.js';

/** What may wait for its commit at the same time. */
const MOST_UNDER_WAY = 64;
const MOST_BYTES_UNDER_WAY = 32 * 1024 * 1024;
const PAUSE_MS = 200;

/** Sends what an import fills in, several messages at a time, and waits where the store wants that. */
export class Sending {
  readonly #underWay = new Set<Promise<void>>();
  readonly #abort: AbortSignal;
  #bytes = 0;
  #failed = false;
  #error: unknown;

  constructor(abort: AbortSignal) {
    this.#abort = abort;
  }

  /**
   * Resolves when there is room for more.
   *
   * @param bytes how much it takes, roughly
   * @throws what an earlier message threw
   */
  async send(bytes: number, work: () => Promise<void>): Promise<void> {
    this.#throwIfOver();
    const sent = this.#try(work)
      .catch((error: unknown) => {
        if (!this.#failed) this.#error = error;
        this.#failed = true;
      })
      .finally(() => {
        this.#underWay.delete(sent);
        this.#bytes -= bytes;
      });
    this.#underWay.add(sent);
    this.#bytes += bytes;
    while (
      this.#underWay.size >= MOST_UNDER_WAY ||
      (this.#bytes > MOST_BYTES_UNDER_WAY && this.#underWay.size > 0)
    )
      await Promise.race(this.#underWay);
    this.#throwIfOver();
  }

  /** Resolves when all is durable. @throws what a message threw */
  async settled(): Promise<void> {
    await this.idle();
    this.#throwIfOver();
  }

  /** Resolves when nothing is under way, whatever became of it. */
  async idle(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  /** A store that has too much to do has stored nothing of it. */
  async #try(work: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        await work();
        return;
      } catch (error) {
        const isOver = this.#failed || this.#abort.aborted;
        if (!(error instanceof ConsumeError) || error.code !== 'overloaded' || isOver) throw error;
        await wait(error.retryAfterMs ?? PAUSE_MS);
      }
    }
  }

  #throwIfOver(): void {
    if (this.#failed) throw this.#error;
    this.#abort.throwIfAborted();
  }
}
