import assert from 'node:assert/strict';
import { ConsumeError } from '../component/consume-error.js';
import type { ReceiverFactory } from '../component/factory.js';
import type { Batch, Signal } from '../signal/batch.js';
import { whileRunning } from './life-checks.js';
import { within } from './patience.js';
import { Scene } from './scene.js';
import type { ConformanceCheck, Subject } from './subject.js';
import { sampleBatch } from './samples.js';

/** Types that a field may have instead of the sample's type. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  number: ['number', 'bigint'],
};

/**
 * Compares a record with a sample of its signal: all fields are present, with the right types.
 *
 * @throws AssertionError that names the field
 */
function assertRecord(signal: Signal, item: unknown): void {
  const [sample] = sampleBatch(signal, 1).items as readonly object[];
  assertLike(signal, item, sample);
}

function assertLike(place: string, given: unknown, sample: unknown): void {
  assert.ok(typeof given === 'object' && given !== null, `${place} is an object`);
  for (const [key, expected] of Object.entries(sample as object)) {
    const at = `${place}.${key}`;
    assert.ok(key in given, `${at} is there, be it null`);
    const value = (given as Readonly<Record<string, unknown>>)[key];
    if (value === null || expected === null || FREE.has(key)) continue;
    if (Array.isArray(expected)) {
      assert.ok(Array.isArray(value), `${at} is a list`);
      for (const [index, one] of value.entries()) assertLike(`${at}[${index}]`, one, expected[0]);
      continue;
    }
    if (typeof expected === 'object') {
      assertLike(at, value, expected);
      continue;
    }
    const allowed = TYPES[typeof expected] ?? [typeof expected];
    assert.ok(allowed.includes(typeof value), `${at} is ${typeof value}, not ${typeof expected}`);
    if (key.endsWith('_at') || key === 'timestamp')
      assert.ok(Number.isSafeInteger(value), `${at} is a time in whole microseconds`);
  }
}

/** Fields that hold JSON of any shape. */
const FREE: ReadonlySet<string> = new Set([
  'body',
  'metadata',
  'input_data',
  'output_data',
  'attributes',
  'resource',
  'labels',
]);

const AT_ONCE = 20;

/** Checks of receivers, which need a function that sends to them (`send`). */
export function receiverChecks(factory: ReceiverFactory, subject: Subject): readonly ConformanceCheck[] {
  const { send } = subject;
  if (send === undefined) return [];
  const sendTo = (scene: Scene): Promise<unknown> =>
    within(scene, 'sending', send({ host: scene.host, clock: scene.clock, outputs: scene.behind }));
  const sent = (scene: Scene) => factory.signals.flatMap((signal) => scene.behind[signal].captured);
  const check = (name: string, run: (scene: Scene) => Promise<void>): ConformanceCheck => ({
    name,
    run: async () => {
      const scene = await Scene.of(factory, subject);
      await whileRunning(scene, () => run(scene));
    },
  });
  return [
    check('receives: passes on batches of valid records', async (scene) => {
      await sendTo(scene);
      assert.ok(sent(scene).length > 0, 'it passed something on');
      for (const signal of factory.signals)
        for (const { batch, context } of scene.behind[signal].captured) {
          assert.ok(typeof batch.tenant === 'string' && batch.tenant !== '', 'a batch belongs to somebody');
          assert.ok(batch.items.length > 0, 'it passes on no empty batches');
          assert.ok(Number.isSafeInteger(context.receivedAt), 'the context tells when the batch came');
          for (const item of batch.items) assertRecord(signal, item);
        }
    }),
    check('receives: a failure behind it ends no more than that batch', async (scene) => {
      for (const signal of factory.signals)
        scene.behind[signal].answer = async () =>
          Promise.reject(new ConsumeError('full', { code: 'overloaded', retryable: true, retryAfterMs: 1 }));
      // Whether the sender gets an error depends on its protocol.
      await Promise.allSettled([sendTo(scene)]);
      for (const signal of factory.signals)
        scene.behind[signal].answer = ({ items }: Batch<unknown>) => ({
          accepted: items.length,
          refused: [],
        });
      const before = sent(scene).length;
      await sendTo(scene);
      assert.ok(sent(scene).length > before, 'the next one is passed on');
    }),
    check(`receives: ${AT_ONCE} at once`, async (scene) => {
      await Promise.all(Array.from({ length: AT_ONCE }, () => sendTo(scene)));
      assert.ok(sent(scene).length > 0);
    }),
    {
      name: 'receives: nothing more once it has stopped',
      run: async () => {
        const scene = await Scene.of(factory, subject);
        try {
          await scene.start();
          await sendTo(scene);
          await scene.stop();
          const before = sent(scene).length;
          scene.clock.advance(24 * 60 * 60 * 1000);
          await new Promise(setImmediate);
          assert.equal(sent(scene).length, before);
        } finally {
          await scene.end();
        }
      },
    },
  ];
}
