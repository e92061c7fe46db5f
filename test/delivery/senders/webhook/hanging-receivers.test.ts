import t from 'tap';
import { startHangingReceivers } from '../../../support/hanging-receivers.js';
import { heldMemory, formatMemory, type Memory } from '../../../support/held-memory.js';
import { startSender, TIMEOUT_MS } from '../../../support/webhook-sender.js';

const RECEIVERS = 500;

void t.test(`memory stays flat with ${RECEIVERS} hanging receivers`, async (t) => {
  const { urlOf, waitFor } = await startHangingReceivers(t);
  const { send, clock } = await startSender(t);
  const { signal } = new AbortController();
  const hold = async (requests: number): Promise<{ during: Memory; after: Memory }> => {
    const attempts = Array.from({ length: RECEIVERS }, (_, index) => send(urlOf(index), signal));
    await waitFor(requests);
    const during = await heldMemory();
    clock.advance(TIMEOUT_MS);
    const results = await Promise.all(attempts);
    t.equal(results.filter(({ error }) => error !== null).length, RECEIVERS, 'each attempt has failed');
    return { during, after: await heldMemory() };
  };
  const before = await heldMemory();
  const first = await hold(RECEIVERS);
  const second = await hold(2 * RECEIVERS);
  // Measured: 70 KiB each, mostly for TLS.
  t.ok(
    first.during.whole - before.whole < 125,
    `during: ${formatMemory(before)}, then ${formatMemory(first.during)}`,
  );
  t.ok(
    second.after.heap - first.after.heap < 4,
    `heap: ${formatMemory(first.after)}, then ${formatMemory(second.after)}`,
  );
  t.ok(second.after.whole - first.after.whole < 50, 'memory outside the heap does not grow either');
});
