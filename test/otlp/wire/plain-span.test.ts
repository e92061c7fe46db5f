import t from 'tap';
import { spanType } from '../../../src/otlp/wire/messages.js';
import { isPlainSpan } from '../../../src/otlp/wire/plain-span.js';
import type { Span } from '../../../src/otlp/wire/requests.js';
import { FULL } from '../../support/otlp-full-requests.js';
import { aSpan } from '../../support/otlp-requests.js';

const bytesOf = (span: Span) => spanType.encode(span).finish();

void t.test('spans with known fields and valid texts are plain', async (t) => {
  const spans = (FULL.traces.resourceSpans ?? []).flatMap(({ scopeSpans }) =>
    (scopeSpans ?? []).flatMap(({ spans }) => spans ?? []),
  );
  t.ok(spans.length > 0);
  for (const span of spans) t.ok(isPlainSpan(bytesOf(span)));
  t.ok(isPlainSpan(bytesOf(aSpan(1))));
  t.ok(isPlainSpan(bytesOf(aSpan(1, { name: 'grüße 🎉' }))));
  t.ok(isPlainSpan(new Uint8Array()));
});

void t.test('spans with invalid UTF-8, unknown fields or Jackdaw attributes are not plain', async (t) => {
  const good = Buffer.from(bytesOf(aSpan(1, { name: 'grüße' })));
  const cut = Buffer.from(good);
  cut[good.indexOf('grüße') + 2] = 0x20;
  t.notOk(isPlainSpan(cut));
  t.notOk(isPlainSpan(Buffer.concat([good, Buffer.from([0xf8, 0x07, 1])])), 'field 127');
  t.notOk(isPlainSpan(Buffer.concat([good, Buffer.from([0x2d, 0, 0, 0, 0])])), 'a string as a number');
  for (let end = good.length - 1; end > good.length - 20; end--) {
    // A field may end there.
    const part = good.subarray(0, end);
    if (isPlainSpan(part)) t.doesNotThrow(() => spanType.decode(part));
  }
  const own = aSpan(1, { attributes: [{ key: 'jackdaw.cost_usd', value: { stringValue: '1' } }] });
  t.notOk(isPlainSpan(bytesOf(own)));
  const near = aSpan(1, { attributes: [{ key: 'jackdaw', value: { stringValue: 'jackdaw.x' } }] });
  t.ok(isPlainSpan(bytesOf(near)));
  let deep: object = { stringValue: 'x' };
  for (let depth = 0; depth < 40; depth++) deep = { arrayValue: { values: [deep] } };
  t.notOk(isPlainSpan(bytesOf(aSpan(1, { attributes: [{ key: 'deep', value: deep }] }))));
});
