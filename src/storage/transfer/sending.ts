import { setTimeout as wait } from 'node:timers/promises';
import { ConsumeError } from '../../component/consume-error.js';

/** Limits of messages waiting for their commit. */
const MOST_UNDER_WAY = 64;
const MOST_BYTES_UNDER_WAY = 32 * 1024 * 1024;
const PAUSE_MS = 200;

/** Sends imported rows, several messages at a time, and slows down when the store requires it. */
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
   * Sends a message; resolves when there is room for another one.
   *
   * @param bytes approximate size
   * @throws the error of an earlier message
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

  /** Resolves when all messages are durable. @throws the error of a message */
  async settled(): Promise<void> {
    await this.idle();
    this.#throwIfOver();
  }

  /** Resolves when no message is in progress, whether or not they succeeded. */
  async idle(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  /** An overloaded store has stored nothing of the message, so it can be repeated. */
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
