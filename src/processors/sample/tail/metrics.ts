import type { Counter, Meter } from '../../../component/telemetry.js';

/** Why a run was decided when it was: it had ended, nothing more came of it, or its room was needed. */
export type Cause = 'ended' | 'quiet' | 'memory' | 'disk';

interface Held {
  readonly runs: () => number;
  readonly bytes: () => number;
  readonly diskBytes: () => number;
}

/** What a tail sampler tells of itself. */
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
      description: 'Runs that were decided, whether they were kept, and why then.',
      labelNames: [...names, 'decision', 'cause'],
    });
    this.#late = meter.counter('sample_late_items_total', {
      description: 'Parts of runs that came after the decision, and went the same way.',
      labelNames: [...names, 'decision'],
    });
    this.#lost = meter.counter('sample_lost_items_total', {
      description: 'Parts of kept runs that were acknowledged, and then refused for good by what is behind.',
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
      gauge('sample_held_runs', 'Runs that are not decided yet.', held.runs),
      gauge(
        'sample_held_bytes',
        'Memory of runs that are not decided or not passed on, roughly.',
        held.bytes,
      ),
      gauge('sample_disk_bytes', 'Size on disk of what was acknowledged and is needed.', held.diskBytes),
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
