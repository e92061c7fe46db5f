import type { Counter, Meter } from '../../component/telemetry.js';
import { ENDED_FOR, type ReadStats } from './read-pool.js';

/** Metrics about queued user reads, with the same names in every engine. */
export class ReadMetrics {
  readonly #meter: Meter;
  readonly #refused: Counter;
  readonly #ended: Counter;
  #stats: ReadStats = {
    waiting: 0,
    running: 0,
    refused: 0,
    ended: { abandoned: 0, timed_out: 0, held_up_move: 0 },
  };

  constructor(meter: Meter) {
    this.#meter = meter;
    this.#refused = meter.counter('store_refused_reads_total', {
      description: 'Reads refused because the read queue was full.',
    });
    this.#ended = meter.counter('store_ended_reads_total', {
      description:
        'Reads cancelled because the client disconnected, they timed out, or they blocked compaction.',
      labelNames: ['reason'],
    });
  }

  /** Adds the changes since the last call. @param stats of the same pool each time */
  update(stats: ReadStats): void {
    this.#refused.add(stats.refused - this.#stats.refused);
    for (const reason of ENDED_FOR)
      this.#ended.add(stats.ended[reason] - this.#stats.ended[reason], { reason });
    this.#stats = stats;
  }

  /** Starts exporting the numbers of waiting and running reads. @returns functions that stop it */
  observe(): (() => void)[] {
    const gauge = (name: string, description: string, read: () => number): (() => void) =>
      this.#meter.gauge(name, { description }, read);
    return [
      gauge('store_waiting_reads', 'Reads in the queue.', () => this.#stats.waiting),
      gauge('store_running_reads', 'Reads in progress.', () => this.#stats.running),
    ];
  }
}
