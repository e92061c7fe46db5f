import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../../component/telemetry.js';
import type { FollowingPart } from '../read/following-runs.js';
import type { Asker } from '../segments/asker.js';
import type { Reads } from '../segments/read.js';
import { callRead, type ReadCall, type StoreReads } from './store-reads.js';

/** All of it may take so long. */
const LONGEST_MS = 60_000;
/** After each read others have the machine for this share of the time that it took. */
const PAUSE = 0.5;

interface Parts {
  readonly from: StoreReads;
  readonly reads: Reads;
  readonly logger: Logger;
}

/**
 * Asks questions of before a start once more, one after the other and never in the way of users, whose reads have connections of their
 * own: so memory has again what made the answers fast. What fails is left.
 */
export class WarmUp {
  readonly #parts: Parts;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  begin(questions: readonly ReadCall[]): void {
    if (questions.length > 0) this.#running = this.#askAll(questions);
  }

  /** Resolves when everything has been asked, or given up. */
  async ended(): Promise<void> {
    await this.#running;
  }

  /** Ends the read under way, and asks nothing more. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #askAll(questions: readonly ReadCall[]): Promise<void> {
    const { reads, logger } = this.#parts;
    const { signal } = this.#stop;
    const startedMs = performance.now();
    let asked = 0;
    for (const question of questions) {
      const begunMs = performance.now();
      if (begunMs - startedMs > LONGEST_MS) break;
      const read = reads.forWork('warm-up', signal);
      try {
        await this.#ask(question, { tenant: question.tenant, short: read, long: read });
        asked += 1;
      } catch (error) {
        if (!signal.aborted) logger.debug({ err: error }, 'Could not repeat a query from before the start.');
      }
      await sleep((performance.now() - begunMs) * PAUSE, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
    }
    const ms = Math.round(performance.now() - startedMs);
    logger.debug({ questions: asked, ms }, 'Repeated recent queries to warm the caches.');
  }

  async #ask(question: ReadCall, by: Asker): Promise<void> {
    const { from } = this.#parts;
    const answer = await callRead(from, question, by);
    if (question.part !== 'runs' || question.method !== 'follow') return;
    // Lists show something of the spans of their runs.
    const { items } = answer as FollowingPart;
    await from.runs.glance(
      by,
      items.map(({ trace_id: id }) => id),
    );
  }
}
