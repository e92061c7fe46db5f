import t from 'tap';
import { spanType } from '../../src/otlp/wire/messages.js';
import { inTraceOrder } from '../../src/storage/shared/trace-order.js';
import { aSpan } from '../support/otlp-requests.js';

/** A span that was received with these nanoseconds below its microsecond. */
function row(span_id: string, parent_span_id: string | null, started_at: number, nanos: number | null) {
  const startTimeUnixNano = `1768478400000000${String(nanos ?? 0).padStart(3, '0')}`;
  const sent = nanos === null ? null : spanType.encode(aSpan(3, { startTimeUnixNano })).finish();
  return { span_id, parent_span_id, started_at, sent };
}

void t.test('spans that start at once are in the order of nanoseconds, then depth, then id', async (t) => {
  const order = (...rows: readonly ReturnType<typeof row>[]) =>
    inTraceOrder(rows, (one) => one)
      .map(({ span_id }) => span_id)
      .join('');
  t.equal(order(row('a', 'c', 1, null), row('b', 'gone', 1, null), row('c', null, 1, null)), 'bca');
  t.equal(order(row('a', null, 1, 999), row('b', 'a', 1, 7), row('c', 'a', 1, 8)), 'bca');
  t.equal(order(row('a', 'b', 0, 9), row('b', 'c', 1, 0), row('c', 'd', 1, 0), row('d', null, 2, 0)), 'acbd');
  t.equal(order(row('a', 'b', 1, null), row('b', 'a', 1, null), row('c', null, 1, null)), 'cab', 'a circle');
});
