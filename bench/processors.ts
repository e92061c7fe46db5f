import { builtinFactories } from '../src/builtin.js';
import type { Consumer } from '../src/component/consumer.js';
import type { ProcessorFactory } from '../src/component/factory.js';
import { parseYaml } from '../src/config/parse-yaml.js';
import { checkSchema } from '../src/config/schema-check.js';
import { decodeTraces } from '../src/otlp/decode/traces.js';
import { logsToRecords } from '../src/otlp/map/logs-to-records.js';
import { metricsToPoints } from '../src/otlp/map/metrics-to-points.js';
import { spansToTraces } from '../src/otlp/map/spans-to-traces.js';
import { requestTypes } from '../src/otlp/wire/messages.js';
import { itemReader } from '../src/receivers/trace-batch/item-reader.js';
import type { Batch, Batches, TelemetrySignal } from '../src/signal/batch.js';
import type { TraceRecord } from '../src/signal/trace.js';
import { createLogger } from '../src/telemetry/logger.js';
import { PrometheusMeter } from '../src/telemetry/meter.js';
import { systemClock } from '../src/telemetry/system-clock.js';
import { printSetup, table, type Print } from './report.js';
import { WORKLOADS } from './workload.js';

export interface ProcessorsOptions {
  /** Seconds to measure each processor and kind of item. */
  readonly seconds: number;
  readonly perRequest: number;
  readonly only?: string;
}

const TENANT = '00000000-0000-4000-8000-000000000001';
const MIN_ROUNDS = 5;
/** Batches mapped from requests before each round, outside the measurement. */
const BATCHES_PER_ROUND = 20;

/** How requests become batches. Each round uses new batches, because processors may change them. */
const KINDS: Readonly<
  Record<
    string,
    {
      readonly load: 'batch' | TelemetrySignal;
      readonly signal: TelemetrySignal;
      readonly read: (body: Buffer) => Batch<unknown>;
    }
  >
> = {
  'spans, batch': {
    load: 'batch',
    signal: 'traces',
    read: (body) => {
      const read = itemReader();
      const { traces } = JSON.parse(body.toString()) as { readonly traces: readonly unknown[] };
      return {
        tenant: TENANT,
        items: traces.map(read).filter((item): item is TraceRecord => typeof item !== 'string'),
      };
    },
  },
  'spans, OTLP': {
    load: 'traces',
    signal: 'traces',
    read: (body) =>
      spansToTraces(decodeTraces(body, Infinity), { tenant: TENANT, idleTimeoutMs: null }).batch,
  },
  logs: {
    load: 'logs',
    signal: 'logs',
    read: (body) =>
      logsToRecords(requestTypes.logs.decode(body), { tenant: TENANT, receivedAt: systemClock.now() }).batch,
  },
  points: {
    load: 'metrics',
    signal: 'metrics',
    read: (body) => metricsToPoints(requestTypes.metrics.decode(body), { tenant: TENANT }).batch,
  },
};

/** `npm run bench -- processors`: CPU time of each processor per item, measured alone in this process. */
export async function processors(options: ProcessorsOptions, print: Print): Promise<void> {
  printSetup(print, 'processors', { ...options });
  const kinds = Object.keys(KINDS);
  const rows: string[][] = [];
  for (const processorCase of PROCESSOR_CASES.filter(({ name }) => name.includes(options.only ?? ''))) {
    const cells: string[] = [];
    const lines: string[] = [];
    for (const kind of kinds) {
      const stats = await microsPerItem(processorCase, kind, options);
      cells.push(stats?.median.toFixed(2) ?? '');
      if (stats !== undefined)
        lines.push(`${kind} ${stats.median.toFixed(2)} (minimum ${stats.min.toFixed(2)})`);
    }
    rows.push([processorCase.name, ...cells]);
    print(`${processorCase.name}: ${lines.join(', ')} µs`);
  }
  print(table(['µs per item', ...kinds], rows));
}

interface Stats {
  readonly median: number;
  readonly min: number;
}

/** @returns undefined if the processor does not support the signal */
async function microsPerItem(
  processorCase: ProcessorCase,
  kind: string,
  options: ProcessorsOptions,
): Promise<Stats | undefined> {
  const definition = KINDS[kind];
  if (definition === undefined) throw new Error(`Unknown kind ${kind}.`);
  const { load, signal, read } = definition;
  const processor = create(processorCase, signal);
  if (processor === undefined) return undefined;
  const bodies = encodedBodies(load, options.perRequest);
  return measure(processor, signal, () => bodies.map(read), options.seconds * 1000);
}

/**
 * Runs rounds of batches. The first third is not counted, because the code is not compiled yet.
 *
 * @returns microseconds per item: the median of the rounds, and the minimum for comparisons on a busy machine
 */
async function measure(
  processor: Consumer<Batch<unknown>>,
  signal: TelemetrySignal,
  make: () => Batch<unknown>[],
  ms: number,
): Promise<Stats> {
  const rounds: number[] = [];
  const startedAt = performance.now();
  for (
    let now = startedAt;
    now < startedAt + 1.5 * ms || rounds.length < MIN_ROUNDS;
    now = performance.now()
  ) {
    const batches = make();
    const count = batches.reduce((sum, batch) => sum + itemCount(signal, batch), 0);
    const context = { receivedAt: systemClock.now() };
    // CPU time, because other processes may run.
    const before = process.cpuUsage();
    for (const batch of batches) await processor.consume(batch, context);
    const { user, system } = process.cpuUsage(before);
    if (now >= startedAt + 0.5 * ms) rounds.push((user + system) / count);
  }
  rounds.sort((a, b) => a - b);
  return { median: rounds[Math.floor(rounds.length / 2)] ?? 0, min: rounds[0] ?? 0 };
}

function itemCount(signal: TelemetrySignal, { items }: Batch<unknown>): number {
  if (signal !== 'traces') return items.length;
  return (items as Batches['traces']['items']).reduce((sum, { spans }) => sum + spans.length, 0);
}

function encodedBodies(load: 'batch' | TelemetrySignal, itemsPerRequest: number): Buffer[] {
  const templates = WORKLOADS[load].templates({ seed: 'processors', itemsPerRequest } as never);
  return Array.from({ length: BATCHES_PER_ROUND }, () => Buffer.from(templates.next().value.bytes));
}

function create(
  { type, section }: ProcessorCase,
  signal: TelemetrySignal,
): Consumer<Batch<unknown>> | undefined {
  const factory = builtinFactories.find(
    (candidate): candidate is ProcessorFactory => candidate.kind === 'processor' && candidate.type === type,
  );
  const make = factory?.create[signal];
  if (factory === undefined || make === undefined) return undefined;
  const { root, problems } = parseYaml(section, `${type}.yaml`);
  if (root === undefined) throw new Error(problems.map(({ message }) => message).join('; '));
  const checked = checkSchema(
    factory.configSchema,
    {
      kind: 'map',
      position: root.position,
      entries: new Map([['section', { keyPosition: root.position, node: root }]]),
    },
    ['section'],
  );
  if (checked.problems.length > 0) throw new Error(checked.problems.map(({ message }) => message).join('; '));
  const next = {
    consume: async (batch: Batch<unknown>) => Promise.resolve({ accepted: batch.items.length, refused: [] }),
  };
  return make({
    id: type,
    config: checked.value as Record<string, unknown>,
    logger: createLogger({
      level: 'error',
      format: 'json',
      output: { isTerminal: false, write: (line) => process.stderr.write(line) },
    }),
    meter: new PrometheusMeter(),
    clock: systemClock,
    next,
  });
}

/** A processor to measure. The section is YAML. */
interface ProcessorCase {
  readonly name: string;
  readonly type: string;
  readonly section: string;
}

const ALL_KINDS = '[email, credit_card, iban, phone, ip_address, api_key, jwt]';

/** Typical configurations, because the cost of a processor depends on them. */
const PROCESSOR_CASES: readonly ProcessorCase[] = [
  { name: 'validation', type: 'validation', section: '{}' },
  { name: 'cost', type: 'cost', section: '{}' },
  {
    name: 'filter: by fields',
    type: 'filter',
    section: `
spans: ['span.type == "http" && span.name.startsWith("GET /health")']
traces: ['trace.agent == "smoke-test"']
logs: ['log.severity == "trace"']
metrics: ['point.name.startsWith("process.")']`,
  },
  {
    name: 'filter: by attributes',
    type: 'filter',
    section: `
spans: ['has(span.metadata.team) && span.metadata.team == "a"']
logs: ['has(log.attributes.team) && log.attributes.team == "a"']
metrics: ['has(point.attributes.team) && point.attributes.team == "a"']`,
  },
  {
    name: 'transform: a rule',
    type: 'transform',
    section: `
spans: [{ when: 'span.type == "tool"', set: { name: '"tool " + span.name' } }]
logs: [{ when: 'log.severity == "error"', set: { attributes.urgent: 'true' } }]`,
  },
  { name: 'rate_limit', type: 'rate_limit', section: 'items_per_second: 1000000000' },
  {
    name: 'sample: 10 %, or failed',
    type: 'sample',
    section: `{ percentage: 10, keep: ['trace.status == "failed"'] }`,
  },
  { name: 'redact: email, api_key', type: 'redact', section: 'builtin: [email, api_key]' },
  { name: 'redact: all kinds', type: 'redact', section: `builtin: ${ALL_KINDS}` },
  {
    name: 'redact: keys and hash',
    type: 'redact',
    section: `
keys: [password, authorization]
hash: { keys: [customer_id], secret: 0123456789abcdef }`,
  },
  { name: 'redact: a pattern', type: 'redact', section: `patterns: [{ name: employee, regex: 'E-\\d{6}' }]` },
];
