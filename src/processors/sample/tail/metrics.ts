import type { Counter, Meter } from '../../../component/telemetry.js';

/** Why a run was decided: it ended, it was idle, or its space was needed. */
export type Cause = 'ended' | 'quiet' | 'memory' | 'disk';

interface Held {
  readonly runs: () => number;
  readonly bytes: () => number;
  readonly diskBytes: () => number;
}

/** Metrics of a tail sampler. */
export class TailMetrics {
  readonly #labels: Readonly<Record<string, string>>;
  readonly #decisions: Counter;
  readonly #late: Counter;
  readonly #lost: Counter;
  readonly #gauges: readonly (() => void)[];

  constructor(meter: Meter, labels: { readonly processor: string; readonly pipeline: string }, held: Held) {
    this.#labels = labels;
    const names = ['processor', 'pipeline'];
    this.#decisions = meter.counter('sample_decided_runs_total', {
      description: 'Decided runs, by decision and reason.',
      labelNames: [...names, 'decision', 'cause'],
    });
    this.#late = meter.counter('sample_late_items_total', {
      description: 'Parts of runs that arrived after the decision and followed it.',
      labelNames: [...names, 'decision'],
    });
    this.#lost = meter.counter('sample_lost_items_total', {
      description: 'Sampled items acknowledged and later rejected permanently downstream.',
      labelNames: names,
    });
    this.#lost.add(0, labels);
    for (const decision of ['kept', 'dropped'] as const) {
      this.#late.add(0, { ...labels, decision });
      for (const cause of ['ended', 'quiet', 'memory', 'disk'] as const)
        this.#decisions.add(0, { ...labels, decision, cause });
    }
    const gauge = (name: string, description: string, read: () => number) =>
      meter.gauge(name, { description, labelNames: names }, read, labels);
    this.#gauges = [
      gauge('sample_held_runs', 'Undecided runs.', held.runs),
      gauge(
        'sample_held_bytes',
        'Approximate memory of runs that are not yet decided or passed on.',
        held.bytes,
      ),
      gauge('sample_disk_bytes', 'Disk space of acknowledged runs that are still needed.', held.diskBytes),
    ];
  }

  decided(isKept: boolean, cause: Cause): void {
    this.#decisions.add(1, { ...this.#labels, decision: isKept ? 'kept' : 'dropped', cause });
  }

  late(isKept: boolean, items: number): void {
    if (items > 0) this.#late.add(items, { ...this.#labels, decision: isKept ? 'kept' : 'dropped' });
  }

  end(): void {
    for (const end of this.#gauges) end();
  }

  lost(items: number): void {
    this.#lost.add(items, this.#labels);
  }
}
