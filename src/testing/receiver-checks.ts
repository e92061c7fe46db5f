import assert from 'node:assert/strict';
import { ConsumeError } from '../component/consume-error.js';
import type { ReceiverFactory } from '../component/factory.js';
import type { Batch } from '../signal/batch.js';
import { assertRecord } from './records.js';
import { whileRunning } from './life-checks.js';
import { within } from './patience.js';
import { Scene } from './scene.js';
import type { ConformanceCheck, Subject } from './subject.js';

const AT_ONCE = 20;

/** Checks of receivers, which need to be sent to (`send`). */
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
      // Whether the sender is told is for its protocol to say.
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
