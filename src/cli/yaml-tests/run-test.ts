import { ConsumeError } from '../../component/consume-error.js';
import type { Refusal } from '../../component/consumer.js';
import { durationMs } from '../../config/duration.js';
import { nodeAt, type ConfigNode } from '../../config/config-node.js';
import { suggestion } from '../../config/nearest-name.js';
import { quotaProcessor } from '../../processors/quota/factory.js';
import { serviceMapProcessor } from '../../processors/service-map/factory.js';
import type { JsonValue } from '../../signal/attributes.js';
import { SIGNALS } from '../../signal/batch.js';
import type { Micros } from '../../signal/time.js';
import type { Bench } from './bench.js';
import { Chain, type Recorder } from './chain.js';
import type { Difference } from './compare.js';
import { CountingMeter } from './counting-meter.js';
import { Items } from './items.js';
import { judged } from './judge.js';
import { sendsOf } from './sends.js';
import { StillClock } from '../../telemetry/still-clock.js';
import { TestProblem } from './test-problem.js';
import type { Case, Input } from './test-schema.js';

/** What a pipeline of the configuration has and a test does without: they change no item. */
const LEFT_OUT: readonly string[] = [quotaProcessor.type, serviceMapProcessor.type];
/** Turns of the event loop in which a chain gets done what waits for nothing outside. */
const TURNS = 50;

/** A chain that waits for something that does not come must not keep everybody else waiting. */
const MOST_MS = 30_000;

interface Step {
  readonly path: readonly string[];
  readonly after: string;
  readonly input: Input | undefined;
}

/** What came of the batches of a step. */
interface Answers {
  readonly refused: Refusal[];
  failed: ConsumeError | undefined;
}

/** Runs one test. @param node of it in its file @throws TestProblem, ItemProblem; Error of a component */
export async function runTest(
  test: Case,
  node: ConfigNode,
  bench: Bench,
  { recorder, now }: { readonly recorder: Recorder; readonly now: Micros },
): Promise<readonly Difference[]> {
  const clock = new StillClock(now);
  const meter = new CountingMeter();
  const chain = new Chain(processorsOf(test, bench), exporterOf(test, bench), { clock, meter });
  const pending: Promise<void>[] = [];
  const found: Difference[] = [];
  let count = 0;
  try {
    await chain.start();
    recorder.take();
    for (const { path, after, input } of stepsOf(test)) {
      await clock.advanceSlowly(durationMs(after), settle);
      const answers: Answers = { refused: [], failed: undefined };
      const items = new Items(clock.now(), count);
      for (const send of input ? sendsOf(input, items, path, test, clock) : []) {
        const sent = send(chain).then(
          (refused) => void answers.refused.push(...refused),
          (error: unknown) => {
            if (!(error instanceof ConsumeError)) throw error;
            answers.failed = error;
          },
        );
        pending.push(sent);
        await done(sent, clock);
      }
      count += input === undefined ? 0 : Math.max(...SIGNALS.map((signal) => input[signal].length));
      await settle();
      const expected = nodeAt(node, [...path, 'expect']);
      const received = {
        ...chain.take(),
        dropped: meter.take('processor_dropped_items_total', 'item'),
        refused: answers.refused as unknown as JsonValue,
        ...(answers.failed && { failed: answers.failed }),
        requests: recorder.take() as JsonValue[],
      };
      found.push(...judged(expected ?? nodeAt(node, path) ?? node, received, expected !== undefined));
    }
  } finally {
    await chain.stop();
    await Promise.allSettled(pending);
  }
  return found;
}

function stepsOf({ steps, input, expect }: Case): readonly Step[] {
  if (steps === undefined) {
    if (expect === undefined) throw new TestProblem(['expect'], 'is missing: what is to come out?');
    return [{ path: [], after: '0s', input }];
  }
  if (input !== undefined || expect !== undefined)
    throw new TestProblem(['steps'], 'stand instead of input and expect: move them into a step');
  return steps.map((step, index) => ({
    path: ['steps', String(index)],
    after: step.after ?? '0s',
    input: step.input,
  }));
}

function processorsOf({ processors, pipeline }: Case, bench: Bench) {
  if (processors !== undefined && pipeline !== undefined)
    throw new TestProblem(['pipeline'], 'has processors already: leave out one of both');
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
    return found !== undefined && LEFT_OUT.includes(processor.factory.type) ? [] : [processor];
  });
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

/** Waits for a batch, unless it waits for time to pass. */
async function done(sent: Promise<void>, clock: StillClock): Promise<void> {
  const startedAt = performance.now();
  const end = sent.then(() => true);
  const pause = async () => {
    await settle();
    return false;
  };
  // Its failure is told by whoever asks for it later.
  end.catch(() => undefined);
  while (!(await Promise.race([end, pause()])) && clock.pending === 0)
    if (performance.now() - startedAt > MOST_MS) throw new Error(`there was no answer within ${MOST_MS} ms`);
}
