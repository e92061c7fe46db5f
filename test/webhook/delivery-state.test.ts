import fc from 'fast-check';
import t, { type Test } from 'tap';
import { TestStore } from '../storage/test-store.js';
import { neverDiffers } from '../support/property.js';
import { deliveryStep, DeliveryPlay, type DeliveryStep } from './delivery-play.js';

const ABSENCE: readonly DeliveryStep['kind'][] = ['add', 'claim', 'finish', 'away'];

void t.test('deliveries go as the model says, whatever happens', async (t) => {
  await compare(t, deliveryStep, { runs: 60, ms: 4_000 });
});

void t.test('and so does what was held while an endpoint was paused', async (t) => {
  const steps = deliveryStep.filter(({ kind }) => ABSENCE.includes(kind));
  await compare(t, steps, { runs: 30, ms: 4_000 });
});

async function compare(
  t: Test,
  step: fc.Arbitrary<DeliveryStep>,
  limits: { readonly runs: number; readonly ms: number },
): Promise<void> {
  const opened = await TestStore.open(t);
  await opened.store.wantEvents(['webhook.endpoint.disabled']);
  const steps = fc.array(step, { minLength: 5, maxLength: 40, size: 'max' });
  await neverDiffers(t, limits, [steps], async (steps) => {
    const run = await DeliveryPlay.begin(opened);
    try {
      for (const step of steps) await run.step(step);
      await run.drain();
      await run.checkAll();
    } finally {
      await run.end();
    }
  });
}
