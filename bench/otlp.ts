import type { TelemetrySignal } from '../src/signal/batch.js';
import { printSetup, type Print } from './report.js';
import { throughput, type ThroughputStats, type ThroughputOptions } from './throughput.js';

/** Acknowledged items per second. */
const GOALS: Readonly<Record<TelemetrySignal, number>> = { traces: 40_000, metrics: 100_000, logs: 30_000 };

export interface OtlpOptions extends Omit<ThroughputOptions, 'kind' | 'itemsPerRequest'> {
  readonly signals: readonly TelemetrySignal[];
  readonly perRequest: number;
}

/** `npm run bench -- otlp`: items per second of each signal, sent as OTLP over HTTP in protobuf. */
export async function otlp(
  options: OtlpOptions,
  print: Print,
): Promise<ReadonlyMap<TelemetrySignal, ThroughputStats>> {
  printSetup(print, 'otlp', { loop: options.rate === undefined ? 'closed' : 'open', ...options });
  const { signals, perRequest, ...rest } = options;
  const results = new Map<TelemetrySignal, ThroughputStats>();
  for (const signal of signals) {
    print(`\n${signal} (goal: ${GOALS[signal]} per second)`);
    results.set(signal, await throughput({ ...rest, kind: signal, itemsPerRequest: perRequest }, print));
  }
  return results;
}
