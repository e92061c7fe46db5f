import type { Test } from 'tap';
import type { Factory } from '../../src/component/factory.js';
import type { Clock } from '../../src/component/telemetry.js';
import { startDaemon, type Daemon } from '../../src/pipeline/daemon.js';
import { prepare } from '../../src/pipeline/prepare.js';
import type { TracesBatch } from '../../src/signal/batch.js';
import { PrometheusMeter } from '../../src/telemetry/meter.js';
import { systemClock } from '../../src/telemetry/system-clock.js';
import { environmentOf } from './config-problems.js';
import { RecordingLogger } from './recording-logger.js';
import { aHeader } from './run-records.js';

export interface EngineOptions {
  readonly factories: readonly Factory[];
  readonly config: string;
  readonly clock?: Clock;
  readonly abort?: AbortSignal;
}

export interface Engine {
  readonly daemon: Daemon;
  readonly logger: RecordingLogger;
  readonly meter: PrometheusMeter;
}

/** A daemon without built-in components and metrics. It stops with the test at the latest. */
export async function startEngine(t: Pick<Test, 'teardown'>, options: EngineOptions): Promise<Engine> {
  const sources = [
    { file: 'test.yaml', text: options.config },
    { file: 'quiet.yaml', text: 'service: { telemetry: { metrics: { endpoint: null } } }' },
  ];
  const prepared = await prepare(sources, environmentOf({}), options.factories);
  const logger = new RecordingLogger();
  const meter = new PrometheusMeter();
  const daemon = await startDaemon({
    prepared,
    logger,
    meter,
    clock: options.clock ?? systemClock,
    ...(options.abort ? { abort: options.abort } : {}),
  });
  t.teardown(() => daemon.shutdown());
  return { daemon, logger, meter };
}

/** A batch of minimal traces with these ids. */
export function batchOf(...ids: readonly string[]): TracesBatch {
  const items = ids.map((id) => ({
    trace: aHeader({ trace_id: id, agent: 'a', started_at: 0, metadata: { nested: { deep: [1, 2] } } }),
    spans: [],
  }));
  return { tenant: 'tenant', items };
}

/** The values of the metric series with these labels. */
export async function metricValues(
  meter: PrometheusMeter,
  name: string,
): Promise<Readonly<Record<string, number>>> {
  const { text } = await meter.print();
  const lines = text.split('\n').filter((line) => line.startsWith(name) && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' ') + 1)),
    ]),
  );
}
