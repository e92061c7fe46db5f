import fc from 'fast-check';
import t from 'tap';
import { TestStore } from '../storage/test-store.js';
import { neverDiffers } from '../support/property.js';
import { deliveryStep, DeliveryPlay } from './delivery-play.js';

void t.test('deliveries go as the model says, whatever happens', async (t) => {
  const opened = await TestStore.open(t);
  await opened.store.wantEvents(['webhook.endpoint.disabled']);
  await neverDiffers(
    t,
    { runs: 60, ms: 15_000 },
    [fc.array(deliveryStep, { minLength: 5, maxLength: 40, size: 'max' })],
    async (steps) => {
      const run = await DeliveryPlay.begin(opened);
      try {
        for (const step of steps) await run.step(step);
        await run.drain();
        await run.checkAll();
      } finally {
        await run.end();
      }
    },
  );
});
