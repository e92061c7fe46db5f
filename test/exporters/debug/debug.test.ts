import t from 'tap';
import { debugConfig } from '../../../src/exporters/debug/factory.js';
import { debugExporter } from '../../../src/exporters/debug/factory.js';
import { componentSettings } from '../../support/component-settings.js';
import { eventBatch } from '../../support/event-records.js';
import { declaredRun, logBatch, metricBatch, TENANT } from '../../support/otlp-records.js';
import { sectionConfig } from '../../support/section-config.js';

function createDebug(yaml: string) {
  const settings = { ...componentSettings('debug'), config: sectionConfig(debugConfig, yaml) };
  const { traces, metrics, logs, events } = debugExporter.create(settings).inputs;
  const context = { receivedAt: 0 };
  return {
    ...settings,
    lines: settings.logger.lines,
    sendTraces: async () => traces?.consume({ tenant: TENANT, items: [declaredRun()] }, context),
    sendMetrics: async () => metrics?.consume(metricBatch(), context),
    sendLogs: async () => logs?.consume(logBatch(), context),
    sendEvents: async () => events?.consume(eventBatch(), context),
  };
}

void t.test('basic: one line per batch', async (t) => {
  const { lines, sendTraces, sendMetrics } = createDebug('');
  t.strictSame(await sendTraces(), { accepted: 1, refused: [] });
  t.strictSame(await sendMetrics(), { accepted: 6, refused: [] });
  t.strictSame(lines, [
    `info A batch of traces signal="traces" tenant="${TENANT}" items=1`,
    `info A batch of metrics signal="metrics" tenant="${TENANT}" items=6`,
  ]);
});

void t.test('normal: prints properties without user content', async (t) => {
  const debug = createDebug('verbosity: normal\nmax_items: 4');
  const { lines, sendTraces, sendMetrics, sendLogs, sendEvents } = debug;
  await sendTraces();
  await sendMetrics();
  await sendLogs();
  await sendEvents();
  const text = lines.join('\n');
  t.match(
    text,
    /agent="support agent" status="completed".* spans=3 span_types=\{"agent":1,"llm":1,"tool":1\}/,
  );
  t.match(text, /name="the\.histogram" type="histogram" unit="ms" service="checkout"/);
  t.match(text, /severity="warn" service="checkout" trace_id="7b8c1c1e/);
  t.match(text, /id="0196f000-\S+" type="trace\.failed" timestamp="2026-11-03T12:00:00Z"/);
  t.match(text, /2 more items are not shown \(max_items\)/);
  for (const secret of [
    'what went wrong',
    'Wo ist mein Paket',
    'grüße',
    'refused by the provider',
    'route',
    'ticket"',
  ])
    t.notMatch(text, secret);
});

void t.test('detailed: prints everything and truncates long items', async (t) => {
  const { lines, sendTraces, sendLogs, sendEvents } = createDebug('verbosity: detailed');
  await sendTraces();
  await sendLogs();
  await sendEvents();
  t.match(lines.join('\n'), /what went wrong/);
  t.match(lines.join('\n'), /Wo ist mein Paket/);
  t.match(lines.join('\n'), /grüße/);
  const cut = createDebug('verbosity: detailed\nmax_item_size: 100');
  await cut.sendTraces();
  t.match(cut.lines.at(-1), /…"$/);
  t.ok((cut.lines.at(-1)?.length ?? 0) < 600);
});

void t.test('samples a number of batches per second and every nth of the rest', async (t) => {
  const { lines, sendTraces, clock } = createDebug('sampling_initial: 2\nsampling_thereafter: 3');
  for (let count = 0; count < 10; count++) await sendTraces();
  t.equal(lines.length, 4, '1, 2, 5 and 8');
  clock.advance(1000);
  await sendTraces();
  t.equal(lines.length, 5, 'the next second starts over');

  const small = createDebug('sampling_initial: 1\nsampling_thereafter: 0');
  for (let count = 0; count < 10; count++) await small.sendTraces();
  t.equal(small.lines.length, 1);
});
