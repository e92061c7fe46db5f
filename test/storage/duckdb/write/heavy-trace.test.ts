import t from 'tap';
import { MOST_NANO_USD } from '../../../../src/signal/money.js';
import type { SpanRecord } from '../../../../src/signal/span.js';
import { aHeader, aSpanRecord, NOON } from '../../../support/run-records.js';
import { piecesOf } from '../../../support/read-pieces.js';
import { aFollowingRecord } from '../following-records.js';
import { spansOf } from '../shown-spans.js';
import { TestStore } from '../test-store.js';

const RECEIVED = { receivedAt: NOON };
const KIB = 1024;
/** A page, plus one more span and JSON overhead. */
const MOST = 17.1 * KIB * KIB;

for (const [what, heavy] of [
  ['payloads', (text: string): Partial<SpanRecord> => ({ input_data: { text } })],
  ['errors', (text: string): Partial<SpanRecord> => ({ error_message: text })],
] as const) {
  void t.test(`streams a trace with large ${what} in bounded pieces`, async (t) => {
    const opened = await TestStore.open(t);
    const tenant = await opened.addUser();
    const trace = aHeader({ status: 'running' });
    const expected: string[] = [];
    for (let batch = 0; batch < 4; batch++) {
      const spans = Array.from({ length: 30 }, (_, i) => {
        const size = i % 5 === 0 ? KIB * KIB : 10;
        const started_at = NOON + batch + i * 10;
        return aSpanRecord(trace.trace_id, { started_at, ...heavy(`${batch}/${i}`.padEnd(size, '-')) });
      });
      await opened.store.writer.traces({ tenant, items: [{ trace, spans }] }, RECEIVED);
    }
    for (let i = 0; i < 30; i++) for (let batch = 0; batch < 4; batch++) expected.push(`${batch}/${i}`);
    for (const isMoved of [false, true]) {
      if (isMoved) await opened.store.settled();
      const found = await opened.store.runs.read(tenant, trace.trace_id);
      const pieces: Uint8Array[] = [];
      for await (const piece of piecesOf(found?.spans)) pieces.push(piece);
      const largest = pieces.reduce((most, piece) => Math.max(most, piece.length), 0);
      t.ok(largest <= MOST, `${largest} bytes at a time`);
      t.ok(pieces.length > 2, `${pieces.length} pieces`);
      const spans = JSON.parse(`[${Buffer.concat(pieces).toString()}]`) as {
        input_data: { text: string } | null;
        error_message: string | null;
      }[];
      const texts = spans.map((span) => span.error_message ?? span.input_data?.text ?? '');
      t.same(
        texts.map((text) => text.replace(/-*$/, '')),
        expected,
      );
      t.ok(texts.every((text, i) => text.length === (i % 20 < 4 ? KIB * KIB : 10)));
    }
  });
}

void t.test('updates the header of a long run from stored spans after a restart', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const first = aHeader({ status: 'running' }).trace_id;
  const most = MOST_NANO_USD;
  // With one maximum cost, so that any multiple exceeds the limit of the store.
  const costs = [1, 0, null, 250_000_000, 3, null, most - 300_000_000];
  const spans = costs.map((cost_usd, i) =>
    aSpanRecord(first, {
      started_at: NOON + i,
      ended_at: i % 3 === 1 ? null : NOON + 10 * i,
      status: i % 3 === 1 ? 'running' : 'completed',
      parent_span_id: 'ffffffff-0000-4000-8000-000000000000',
      error_message: i === 2 ? 'broken' : null,
      total_tokens: i % 2 === 0 ? i : null,
      agent_hint: i === 3 ? { source: 'agent span', name: 'planner' } : null,
      cost_usd,
    }),
  );
  const write = async (...more: SpanRecord[]) =>
    opened.store.writer.traces({ tenant, items: [aFollowingRecord(more)] }, RECEIVED);
  const look = async () => {
    const found = await opened.store.runs.read(tenant, first);
    return found === null ? null : { ...found, spans: await spansOf(found) };
  };
  await write(...spans);
  for (const isMoved of [false, true]) {
    const before = await look();
    t.match(before, { total_cost_usd: most - 300_000_000 + 250_000_004, total_tokens: 12 });
    if (isMoved) await opened.store.settled();
    await opened.reopen();
    // Another span that adds nothing forces a recomputation from all spans.
    const another = aSpanRecord(first, {
      parent_span_id: 'ffffffff-0000-4000-8000-000000000000',
      started_at: NOON + 5,
      ended_at: NOON + 6,
    });
    await write(another);
    const after = await look();
    t.match(after, { span_count: (before?.span_count ?? 0) + 1 });
    for (const name of ['total_cost_usd', 'total_tokens', 'status', 'started_at', 'agent_name'] as const)
      t.equal(after?.[name], before?.[name], name);
  }
});
