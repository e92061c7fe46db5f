import { ConsumeError } from '../../component/consume-error.js';
import type { Refusal } from '../../component/consumer.js';
import { durationMs } from '../../config/duration.js';
import { nodeAt, type ConfigNode } from '../../config/config-node.js';
import { suggestion } from '../../config/nearest-name.js';
import { quotaProcessor } from '../../processors/quota/factory.js';
import { serviceMapProcessor } from '../../processors/service-map/factory.js';
import type { JsonValue } from '../../signal/attributes.js';
import { SIGNALS, type Signal } from '../../signal/batch.js';
import type { Micros } from '../../signal/time.js';
import { StillClock } from '../../telemetry/still-clock.js';
import type { Bench } from './bench.js';
import { Chain, type Recorder } from './chain.js';
import type { Difference } from './compare.js';
import { CountingMeter } from './counting-meter.js';
import { Items } from './items.js';
import { MemoryStore } from './memory-store.js';
import { judged } from './judge.js';
import { sendsOf } from './sends.js';
import { stepsOf } from './steps.js';
import { TestProblem } from './test-problem.js';
import type { Case } from './test-schema.js';

/** The default: nothing is delivered. */
const NOTHING: Readonly<Record<Signal, readonly JsonValue[]>> = {
  traces: [],
  metrics: [],
  logs: [],
  events: [],
};
/** Event loop turns that suffice for a chain to finish all work that needs no external event. */
const TURNS = 50;

/** Timeout for a chain that waits for an event that never occurs. */
const MOST_MS = 30_000;

/** The results of a step's batches. */
interface Answers {
  readonly refused: Refusal[];
  failed: ConsumeError | undefined;
}

/**
 * Runs one test.
 *
 * @param node of the test in its file
 * @throws TestProblem, ItemProblem; Error of a component
 */
export async function runTest(
  test: Case,
  node: ConfigNode,
  bench: Bench,
  { recorder, now }: { readonly recorder: Recorder; readonly now: Micros },
): Promise<readonly Difference[]> {
  const clock = new StillClock(now);
  const meter = new CountingMeter();
  const processors = processorsOf(test, bench);
  if (test.quota && !processors.some(({ factory }) => factory.type === quotaProcessor.type))
    throw new TestProblem(['quota'], 'has no effect: add a processor of type quota to the chain');
  const store = new MemoryStore(test.quota ?? { used: 0 }, now);
  const chain = new Chain(processors, exporterOf(test, bench), { clock, meter, store });
  const pending: Promise<void>[] = [];
  const found: Difference[] = [];
  let count = 0;
  try {
    await chain.start();
    recorder.take();
    // Timers that a component keeps as long as it runs.
    const idle = clock.pending;
    for (const { path, after, input, send } of stepsOf(test)) {
      checkOfDaemons(send, nodeAt(node, [...path, 'expect']), path);
      await clock.advanceSlowly(durationMs(after), settle);
      const answers: Answers = { refused: [], failed: undefined };
      const items = new Items(clock.now(), count);
      for (const send of input ? sendsOf(input, items, path, test.identity, clock) : []) {
        const sent = send(chain).then(
          (refused) => void answers.refused.push(...refused),
          (error: unknown) => {
            if (!(error instanceof ConsumeError)) throw error;
            answers.failed = error;
          },
        );
        pending.push(sent);
        await done(sent, clock, idle);
      }
      count += input === undefined ? 0 : Math.max(...SIGNALS.map((signal) => input[signal].length));
      await settle();
      const expected = nodeAt(node, [...path, 'expect']);
      const { items: passed, map } = chain.take();
      const sent = recorder.take();
      checkExporter(expected, [...path, 'expect'], sent);
      const received = {
        ...passed,
        dropped: meter.take('processor_dropped_items_total', 'item'),
        refused: answers.refused as unknown as JsonValue,
        ...(answers.failed && { failed: answers.failed }),
        requests: sent.requests as JsonValue[],
        delivered: { ...NOTHING, ...sent.delivered },
        service_map: map,
        usage: store.usage,
      };
      found.push(...judged(expected ?? nodeAt(node, path) ?? node, received, expected !== undefined));
    }
  } finally {
    await chain.stop();
    await Promise.allSettled(pending);
  }
  return found;
}

function processorsOf({ processors, pipeline, ...test }: Case, bench: Bench) {
  if (processors !== undefined && pipeline !== undefined)
    throw new TestProblem(['pipeline'], 'cannot be combined with processors: remove one of them');
  const found = pipeline === undefined ? undefined : bench.pipeline(pipeline);
  if (pipeline !== undefined && found === undefined)
    throw new TestProblem(
      ['pipeline'],
      `there is no pipeline "${pipeline}"${suggestion(pipeline, bench.pipelines)}`,
    );
  return (found ?? processors ?? []).flatMap((id, index) => {
    const processor = bench.processors.get(id);
    const path = pipeline === undefined ? ['processors', String(index)] : ['pipeline'];
    if (!processor)
      throw new TestProblem(
        path,
        `there is no processor "${id}"${suggestion(id, [...bench.processors.keys()])}`,
      );
    // It changes no item, and its map is compared only if one is expected.
    const isLeftOut = found !== undefined && processor.factory.type === serviceMapProcessor.type;
    return isLeftOut && !expectsMap(test) ? [] : [processor];
  });
}

/** @throws TestProblem if a chain has expectations or requests that only daemons support */
function checkOfDaemons(send: unknown, expected: ConfigNode | undefined, path: readonly string[]): void {
  if (send !== undefined)
    throw new TestProblem([...path, 'send'], 'needs a daemon: set daemon: true, or give input to the chain');
  for (const key of ['answers', 'files', 'log'])
    if (expected && nodeAt(expected, [key]))
      throw new TestProblem([...path, 'expect', key], 'is available for daemons only: set daemon: true');
}

function expectsMap({ expect, steps = [] }: Pick<Case, 'expect' | 'steps'>): boolean {
  return [expect, ...steps.map((step) => step.expect)].some((one) => one?.service_map !== undefined);
}

/**
 * Checks that expected requests and deliveries match the type of the exporter; for a template, the configuration does not show
 * it.
 *
 * @throws TestProblem
 */
function checkExporter(
  expected: ConfigNode | undefined,
  path: readonly string[],
  { requests, delivered }: ReturnType<Recorder['take']>,
): void {
  const entries = expected?.kind === 'map' ? expected.entries : new Map<string, never>();
  const isDelivered = Object.keys(delivered).length > 0;
  if (entries.has('delivered') && requests.length > 0 && !isDelivered)
    throw new TestProblem([...path, 'delivered'], 'the exporter has the type http: use requests');
  if (entries.has('requests') && isDelivered && requests.length === 0)
    throw new TestProblem([...path, 'requests'], 'the exporter does not have the type http: use delivered');
}

function exporterOf({ exporter: id }: Case, bench: Bench) {
  if (id === undefined) return undefined;
  const exporter = bench.exporters.get(id);
  if (!exporter)
    throw new TestProblem(
      ['exporter'],
      `there is no exporter "${id}"${suggestion(id, [...bench.exporters.keys()])}`,
    );
  return exporter;
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Waits for a batch, unless the batch itself waits for a timer. */
async function done(sent: Promise<void>, clock: StillClock, idle: number): Promise<void> {
  const startedAt = performance.now();
  const end = sent.then(() => true);
  const pause = async () => {
    await settle();
    return false;
  };
  // The caller awaits `sent` later and gets the failure.
  end.catch(() => undefined);
  while (!(await Promise.race([end, pause()])) && clock.pending <= idle)
    if (performance.now() - startedAt > MOST_MS)
      throw new Error(`the chain did not respond within ${MOST_MS} ms`);
}
