import t from 'tap';
import type { SpanRecord } from '../../src/signal/span.js';
import { aHeader, aSpanRecord, NOON } from '../support/run-records.js';
import { TestStore } from './test-store.js';

const RECEIVED = { receivedAt: NOON };
const KIB = 1024;
/** A page, and what one more span, and JSON around it, may add. */
const MOST = 17.1 * KIB * KIB;

for (const [what, heavy] of [
  ['payloads', (text: string): Partial<SpanRecord> => ({ input_data: { text } })],
  ['errors', (text: string): Partial<SpanRecord> => ({ error_message: text })],
] as const) {
  void t.test(`a trace with large ${what} comes in pieces that memory can hold`, async (t) => {
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
      await opened.store.writeTraces({ tenant, items: [{ trace, spans }] }, RECEIVED);
    }
    for (let i = 0; i < 30; i++) for (let batch = 0; batch < 4; batch++) expected.push(`${batch}/${i}`);
    for (const isMoved of [false, true]) {
      if (isMoved) await opened.store.settled();
      const found = await opened.store.readTrace(tenant, trace.trace_id);
      const pieces: Uint8Array[] = [];
      for await (const piece of found?.spans ?? []) pieces.push(piece);
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
