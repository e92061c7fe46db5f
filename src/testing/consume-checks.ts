import assert from 'node:assert/strict';
import { ConsumeError } from '../component/consume-error.js';
import type { Receipt } from '../component/consumer.js';
import { signalsOf, type Factory } from '../component/factory.js';
import type { Batch, Signal } from '../signal/batch.js';
import { heldBytes } from './held-resources.js';
import { whileRunning } from './life-checks.js';
import { Scene } from './scene.js';
import type { ConformanceCheck, Subject } from './subject.js';

const MANY = 10_000;
const AT_ONCE = 40;
/** Batches of ten items: so many first, until caches are filled, and then so many that are measured. */
const WARM_UP = 100;
const MEASURED = 100;
const BYTES_PER_BATCH = 4096;
/** Garbage collection and concurrent work disturb a measurement, so the best of several counts. */
const MEASUREMENTS = 4;

type AnyFactory = Extract<Factory, { readonly kind: 'processor' | 'exporter' }>;

/** Checks of processors and exporters, for each signal that they declare. */
export function consumeChecks(factory: AnyFactory, subject: Subject): readonly ConformanceCheck[] {
  return (subject.signals ?? signalsOf(factory)).flatMap((signal) => [
    ...eachSignal(factory, subject, signal),
    ...(factory.kind === 'processor' ? throughProcessor(factory, subject, signal) : []),
    ...chosenBatches(factory, subject, signal),
  ]);
}

/** Makes a check of one signal with a component that runs. */
function checkOf(factory: AnyFactory, subject: Subject, signal: Signal) {
  return (name: string, run: (scene: Scene) => Promise<void>): ConformanceCheck => ({
    name: `${signal}: ${name}`,
    run: async () => {
      const scene = await Scene.of(factory, subject, signal);
      await whileRunning(scene, () => run(scene));
    },
  });
}

function eachSignal(factory: AnyFactory, subject: Subject, signal: Signal): readonly ConformanceCheck[] {
  const check = checkOf(factory, subject, signal);
  const take = async (scene: Scene, count: number): Promise<Receipt> => {
    const receipt = await scene.consume(signal, scene.sample(signal, count));
    assertReceipt(receipt, count);
    assert.deepEqual(receipt.refused, [], 'it refuses none of a valid batch');
    return receipt;
  };
  const mutates = factory.kind === 'processor' && factory.mutatesBatch;
  return [
    check('takes a batch', async (scene) => {
      await take(scene, 3);
    }),
    check('does not change the list of items', async (scene) => {
      const batch = scene.sample(signal, 3);
      const items = [...batch.items];
      await scene.consume(signal, batch);
      assert.equal(batch.items.length, items.length, 'pass on a new list for other items (consumeKept)');
      for (const [index, item] of items.entries())
        assert.equal(batch.items[index], item, 'pass on a new list for other items (consumeKept)');
    }),
    check('takes an empty batch', async (scene) => {
      await take(scene, 0);
    }),
    check(`takes a batch of ${MANY} items`, async (scene) => {
      await take(scene, MANY);
    }),
    check(`takes ${AT_ONCE} batches at once, each with a receipt of its own`, async (scene) => {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => take(scene, 1 + (index % 3))));
    }),
    ...(mutates
      ? []
      : [
          check('changes no item, because it does not say mutatesBatch', async (scene) => {
            const batch = scene.sample(signal, 3);
            const items = [...batch.items];
            const before = structuredClone(items);
            await scene.consume(signal, batch);
            assert.deepEqual(items, before);
          }),
        ]),
    check('a batch leaves no memory behind', async (scene) => {
      const send = async (batches: number): Promise<void> => {
        for (let i = 0; i < batches; i++) {
          await take(scene, 10);
          for (const one of Object.values(scene.behind)) one.captured.length = 0;
          scene.logger.lines.length = 0;
        }
      };
      await send(WARM_UP);
      const limit = subject.bytesPerBatch ?? BYTES_PER_BATCH;
      let least = Infinity;
      for (let i = 0; i < MEASUREMENTS && least > limit; i++) {
        const before = await heldBytes();
        await send(MEASURED);
        least = Math.min(least, ((await heldBytes()) - before) / MEASURED);
      }
      assert.ok(
        least <= limit,
        `each batch of 10 items left ${Math.round(least)} bytes behind, more than ${limit}`,
      );
    }),
    {
      name: `${signal}: a stop during consume leaves nobody without an answer, and nothing comes after it`,
      run: () => stopWhileConsuming(factory, subject, signal),
    },
  ];
}

/** A stopped component finishes accepted work, and nothing runs afterwards. */
async function stopWhileConsuming(factory: AnyFactory, subject: Subject, signal: Signal): Promise<void> {
  const scene = await Scene.of(factory, subject, signal);
  try {
    await scene.start();
    const taken = Array.from({ length: 5 }, () => scene.consume(signal, scene.sample(signal, 2)));
    const [outcomes] = await Promise.all([Promise.allSettled(taken), scene.stop()]);
    const accepted = outcomes.reduce((sum, outcome) => {
      if (outcome.status === 'fulfilled') return sum + outcome.value.accepted;
      assertConsumeError(outcome.reason);
      return sum;
    }, 0);
    const passed = scene.behind[signal].items.length;
    if (factory.kind === 'processor' && subject.drops !== true)
      assert.equal(passed, accepted, 'what it had taken was passed on when it had stopped');
    if (subject.arrived !== undefined)
      assert.ok(
        (await subject.arrived(signal)) >= accepted,
        'what it had taken had arrived when it had stopped',
      );
    scene.clock.advance(24 * 60 * 60 * 1000);
    await new Promise(setImmediate);
    assert.equal(scene.behind[signal].items.length, passed, 'nothing is passed on after the stop');
  } finally {
    await scene.end();
  }
}

function throughProcessor(
  factory: AnyFactory,
  subject: Subject,
  signal: Signal,
): readonly ConformanceCheck[] {
  const check = checkOf(factory, subject, signal);
  const never = new ConsumeError('the disk is full', { code: 'storage_unavailable', retryable: false });
  return [
    check('passes on what it has taken', async (scene) => {
      const receipt = await scene.consume(signal, scene.sample(signal, 5));
      const { items } = scene.behind[signal];
      if (subject.drops === true) assert.ok(items.length <= receipt.accepted, 'no more than it was given');
      else assert.equal(items.length, receipt.accepted);
      for (const { context } of scene.behind[signal].captured)
        assert.ok(Number.isSafeInteger(context.receivedAt), 'the context tells when the batch came');
    }),
    ...(subject.drops === true
      ? []
      : [
          check('an error of the next consumer reaches the sender unchanged', async (scene) => {
            scene.behind[signal].answer = async () => Promise.reject(never);
            await assert.rejects(scene.consume(signal, scene.sample(signal, 2)), (error) => {
              assertConsumeError(error);
              assert.equal(error.code, never.code);
              assert.equal(error.retryable, false);
              return true;
            });
          }),
          check('refusals of what is behind point at the sender’s items', async (scene) => {
            const batch = scene.sample(signal, 6);
            const sent = [...batch.items];
            const refusedItems: unknown[] = [];
            scene.behind[signal].answer = ({ items }) => {
              refusedItems.push(...items.filter((_, index) => index % 2 === 1));
              const refused = items.flatMap((_, index) =>
                index % 2 === 1 ? [{ index, reason: 'odd' }] : [],
              );
              return { accepted: items.length - refused.length, refused };
            };
            const receipt = await scene.consume(signal, batch);
            assertReceipt(receipt, sent.length);
            assert.equal(receipt.refused.length, refusedItems.length);
            if (!mutatesItems(factory))
              assert.deepEqual(
                receipt.refused.map(({ index }) => sent[index]),
                refusedItems,
              );
          }),
        ]),
  ];
}

function mutatesItems(factory: AnyFactory): boolean {
  return factory.kind === 'processor' && factory.mutatesBatch;
}

/** Checks for the subject's own batches: single refused items, and batches that are refused as a whole. */
function chosenBatches(factory: AnyFactory, subject: Subject, signal: Signal): readonly ConformanceCheck[] {
  const check = checkOf(factory, subject, signal);
  const mine = <T extends { readonly signal: Signal }>(all: readonly T[] = []) =>
    all.filter((one) => one.signal === signal);
  return [
    ...mine(subject.refusals).map(({ batch, refused }, index) =>
      check(`refuses single items${index === 0 ? '' : ` (${index + 1})`}`, async (scene) => {
        const given: Batch<unknown> = batch();
        const count = given.items.length;
        const receipt = await scene.consume(signal, given);
        assertReceipt(receipt, count);
        assert.deepEqual(
          receipt.refused.map((refusal) => refusal.index),
          refused,
        );
      }),
    ),
    ...mine(subject.errors).map(({ batch, code, retryable }) =>
      check(`does not take a batch: ${code}`, async (scene) => {
        await assert.rejects(scene.consume(signal, batch()), (error) => {
          assertConsumeError(error);
          assert.deepEqual({ code: error.code, retryable: error.retryable }, { code, retryable });
          return true;
        });
      }),
    ),
  ];
}

function assertConsumeError(error: unknown): asserts error is ConsumeError {
  assert.ok(error instanceof ConsumeError, `it rejects with a ConsumeError, and not with ${String(error)}`);
}

/**
 * @param count how many items the batch had
 * @throws AssertionError if the receipt cannot be one for such a batch
 */
function assertReceipt(receipt: Receipt, count: number): void {
  assert.equal(typeof receipt, 'object', 'consume resolves with a receipt');
  const { accepted, refused } = receipt;
  assert.ok(Number.isSafeInteger(accepted) && accepted >= 0, 'accepted is a number of items');
  assert.equal(accepted + refused.length, count, 'accepted and refused add up to the batch');
  const seen = new Set<number>();
  for (const { index, reason } of refused) {
    assert.ok(Number.isSafeInteger(index) && index >= 0 && index < count, `there is an item ${index}`);
    assert.ok(!seen.has(index), `item ${index} is refused once`);
    assert.ok(typeof reason === 'string' && reason !== '', 'a refusal has a reason');
    seen.add(index);
  }
}
