import t from 'tap';
import { startHangingReceivers } from '../../support/hanging-receivers.js';
import { heldMemory, formatMemory } from '../../support/held-memory.js';
import { until } from '../../support/until.js';
import { WebhookService } from '../../support/webhook-service.js';

const RECEIVERS = 500;
const TIMEOUT_MS = 600_000;

void t.test(`memory stays flat with ${RECEIVERS} hanging endpoints`, { timeout: 120_000 }, async (t) => {
  const { urlOf, waitFor } = await startHangingReceivers(t);
  const service = await WebhookService.start(t, {
    // One host gets a quarter of the slots. Slow machines take long to connect that often: only the test ends the timeout.
    overlay: `{ timeout: ${TIMEOUT_MS}ms, connect_timeout: ${TIMEOUT_MS}ms, max_concurrency: ${4 * RECEIVERS}, retry_schedule: [] }`,
  });
  for (let index = 0; index < RECEIVERS; index++) await service.addEndpoint(urlOf(index));
  const endpoints = async () => await service.control.endpoints.list(service.slug);

  const before = await heldMemory();
  const ends = [];
  for (const round of [1, 2]) {
    await service.emit();
    await waitFor(round * RECEIVERS);
    const during = await heldMemory();
    t.comment(`round ${round}: ${formatMemory(before)}, then ${formatMemory(during)}`);
    t.ok(during.whole - before.whole < 200, 'hanging requests are cheap');
    service.clock.advance(TIMEOUT_MS);
    await until('all are recorded', async () =>
      (await endpoints()).every(({ consecutive_failures }) => consecutive_failures === round),
    );
    ends.push(await heldMemory());
  }
  const [first, last] = ends;
  if (!first || !last) throw new Error('two rounds');
  t.ok(last.heap - first.heap < 8, `heap: ${formatMemory(first)}, then ${formatMemory(last)}`);
  t.ok(last.whole - first.whole < 75, 'nor does memory outside the heap grow');
});
