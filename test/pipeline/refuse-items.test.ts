import fc from 'fast-check';
import t from 'tap';
import type { Consumer } from '../../src/component/consumer.js';
import { consumeUnrefused } from '../../src/component/keep-items.js';
import type { TracesBatch } from '../../src/signal/batch.js';
import { batchOf } from '../support/engine.js';

void t.test('downstream refusals use the item indexes of the sender', async (t) => {
  // Three processors in a row refuse by their own rules; the receipt must equal that of a single one.
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 12 }), async (verdicts) => {
      const batch = batchOf(...verdicts.map((verdict, index) => `${verdict}-${index}`));
      const stage = (verdict: number, next: Consumer<TracesBatch>): Consumer<TracesBatch> => ({
        consume: async (input, context) => {
          const refused = input.items.flatMap(({ trace }, index) =>
            trace.trace_id.startsWith(`${verdict}-`)
              ? [{ index, id: trace.trace_id, reason: `stage ${verdict}` }]
              : [],
          );
          return consumeUnrefused(input, refused, next, context);
        },
      });
      const end: Consumer<TracesBatch> = {
        consume: async (input) => ({ accepted: input.items.length, refused: [] }),
      };
      const receipt = await stage(1, stage(2, stage(3, end))).consume(batch, { receivedAt: 0 });
      const expected = verdicts.flatMap((verdict, index) =>
        verdict === 0 ? [] : [{ index, id: `${verdict}-${index}`, reason: `stage ${verdict}` }],
      );
      t.strictSame(receipt, { accepted: verdicts.length - expected.length, refused: expected });
    }),
    { numRuns: 100 },
  );
});

void t.test('passes on the quota usage', async (t) => {
  const usage = { limit: 5, used: 1, resets_at: 0 };
  const next: Consumer<TracesBatch> = {
    consume: async (batch) => ({ accepted: batch.items.length, refused: [], usage }),
  };
  const refused = [{ index: 0, reason: 'no' }];
  for (const [refusals, accepted] of [
    [refused, 1],
    [[], 2],
  ] as const)
    t.strictSame(await consumeUnrefused(batchOf('a', 'b'), refusals, next, { receivedAt: 0 }), {
      accepted,
      refused: refusals,
      usage,
    });
});

void t.test(
  'skips downstream if nothing is left and passes the batch itself if nothing is refused',
  async (t) => {
    const asked: TracesBatch[] = [];
    const next: Consumer<TracesBatch> = {
      consume: async (batch) => {
        asked.push(batch);
        return { accepted: batch.items.length, refused: [] };
      },
    };
    const batch = batchOf('a');
    const refused = [{ index: 0, reason: 'no' }];
    t.strictSame(await consumeUnrefused(batch, refused, next, { receivedAt: 0 }), { accepted: 0, refused });
    t.strictSame(asked, []);
    await consumeUnrefused(batch, [], next, { receivedAt: 0 });
    t.equal(asked[0], batch);
  },
);
