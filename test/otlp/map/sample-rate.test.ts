import t from 'tap';
import { encodeRequest } from '../../../src/otlp/encode/request.js';
import { sampleRateIn } from '../../../src/otlp/map/spans-to-traces.js';
import { mapSpans } from '../../support/mapped-span.js';
import { aSpan, tracesOf } from '../../support/otlp-requests.js';

void t.test('reads the sample rate from the trace state', async (t) => {
  for (const [state, rate] of [
    ['ot=th:0', 1],
    ['ot=th:8', 0.5],
    ['ot=th:c', 0.25],
    ['ot=th:e', 0.125],
    ['ot=th:fd70a4', 0.01],
    ['vendor=th:8, ot=rv:0123456789abcd;th:c;x:1', 0.25],
    ['ot=th:c;rv:0123456789abcd,vendor=1', 0.25],
    ['', null],
    ['vendor=1', null],
    ['not=th:8', null],
    ['ot=', null],
    ['ot=th:', null],
    ['ot=xth:8', null],
    ['ot=th:8g', null],
    ['ot=th:000000000000001', null],
  ] as const) {
    const found = sampleRateIn(state);
    t.ok(rate === null ? found === null : Math.abs((found ?? 0) - rate) < 1e-6, `${state}: ${String(found)}`);
  }
  t.ok((sampleRateIn('ot=th:ffffffffffffff') ?? 0) > 0);
});

const ratesOf = (request: Parameters<typeof mapSpans>[0]): (number | null)[] =>
  mapSpans(request).batch.items.map(({ trace }) => trace.sample_rate);

void t.test('a run has the sample rate of its root span and forwards it', async (t) => {
  const sent = tracesOf(
    aSpan(1, { traceState: 'ot=th:8', parentSpanId: aSpan(2).spanId }),
    aSpan(2, { traceState: 'ot=th:c' }),
  );
  t.strictSame(ratesOf(sent), [0.25]);
  t.strictSame(ratesOf(tracesOf(aSpan(1))), [null]);
  const { batch } = mapSpans(sent);
  const [item] = batch.items;
  if (item === undefined) throw new Error('no run');
  const sampled = { ...batch, items: [{ ...item, trace: { ...item.trace, sample_rate: 0.05 } }] };
  t.strictSame(ratesOf(encodeRequest('traces', sampled)), [0.05], 'to the next Jackdaw');
  t.notMatch(JSON.stringify(mapSpans(encodeRequest('traces', sampled)).batch.items[0]?.spans), 'sample_rate');
});
