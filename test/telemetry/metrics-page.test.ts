import t from 'tap';
import { observeProcess } from '../../src/telemetry/process-metrics.js';
import { startTestDaemon } from '../support/daemon.js';
import { metricValues } from '../support/engine.js';
import { metricTable } from '../support/metric-table.js';
import { aSpan, protobufOf } from '../support/otlp-requests.js';
import { readProjectFile } from '../support/project-file.js';

void t.test('the page lists every metric of a running daemon', async (t) => {
  const { meter, metricsUrl } = await startTestDaemon(t, { overlay: 'service: { intake: { threads: 1 } }' });
  t.teardown(observeProcess(meter, '1.2.3'));
  const page = await (await fetch(`${metricsUrl}/metrics`)).text();
  const table = metricTable(page);
  t.ok(readProjectFile('src/telemetry/metrics.md').includes(table), table);
});

void t.test('metrics include spans, state and store size', async (t) => {
  const { otlpUrl, key, meter } = await startTestDaemon(t);
  // Seven spans of two traces.
  const spans = [1, 2, 3, 4, 5, 6, 7].map((id) =>
    aSpan(id, { traceId: Buffer.alloc(16, id < 3 ? 1 : 2), spanId: Buffer.alloc(8, id) }),
  );
  for (let request = 0; request < 3; request++) {
    const answer = await fetch(`${otlpUrl}/v1/traces`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-protobuf' },
      body: new Uint8Array(protobufOf('traces', { resourceSpans: [{ scopeSpans: [{ spans }] }] })),
    });
    t.equal(answer.status, 200);
  }
  const value = async (series: string) => (await metricValues(meter, series))[series];
  const at = '{receiver="otlp",signal="traces"}';
  t.equal(await value(`jackdaw_receiver_accepted_items_total${at}`), 6);
  t.equal(await value(`jackdaw_receiver_accepted_spans_total${at}`), 21);
  t.equal(await value('jackdaw_exporter_accepted_spans_total{exporter="storage",signal="traces"}'), 21);
  const state = (word: string) =>
    value(`jackdaw_component_state{kind="receiver",component="otlp",pipeline="",state="${word}"}`);
  t.equal(await state('ok'), 1);
  t.equal(await state('degraded'), 0);
  for (const kind of ['main', 'hot'])
    t.ok(((await value(`jackdaw_store_file_bytes{kind="${kind}"}`)) ?? 0) > 0, kind);
  t.ok(((await value('jackdaw_store_disk_free_bytes')) ?? 0) > 0);
});
