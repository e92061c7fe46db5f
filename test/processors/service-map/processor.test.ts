import t from 'tap';
import type { Receipt } from '../../../src/component/consumer.js';
import { serviceMapConfig } from '../../../src/processors/service-map/config.js';
import { createServiceMap } from '../../../src/processors/service-map/factory.js';
import type { TracesBatch } from '../../../src/signal/batch.js';
import { invariant } from '../../../src/signal/checked.js';
import { deriveMap, mapOf } from '../../../src/signal/derive-map.js';
import { fitsBatch } from '../../../src/signal/service-map.js';
import { componentSettings } from '../../support/component-settings.js';
import { aHeader, aSpanRecord, aTrace } from '../../support/run-records.js';
import { sectionConfig } from '../../support/section-config.js';
import { testHost } from '../../support/test-host.js';

/** A started processor and the batches that it forwards. */
async function startMap(yaml = '{}') {
  const settings = componentSettings('service_map');
  const passed: TracesBatch[] = [];
  const next = {
    async consume(batch: TracesBatch): Promise<Receipt> {
      passed.push(batch);
      return { accepted: batch.items.length, refused: [] };
    },
  };
  const config = sectionConfig(serviceMapConfig, yaml);
  const processor = createServiceMap({ ...settings, config }, next);
  await processor.start?.(testHost());
  return { ...settings, passed, processor };
}

void t.test('forwards a copy of the batch with its map', async (t) => {
  const { processor, passed, logger } = await startMap();
  const trace = aHeader({ agent: 'planner' });
  const root = aSpanRecord(trace.trace_id, { type: 'agent', metadata: { 'agent.name': 'writer' } });
  const call = aSpanRecord(trace.trace_id, { parent_span_id: root.span_id });
  const items = [
    {
      trace,
      spans: [
        root,
        call,
        aSpanRecord(trace.trace_id, {
          parent_span_id: call.span_id,
          type: 'http',
          input_data: { url: 'https://API.example.com:443/v1' },
        }),
      ],
    },
  ];
  const sent = { tenant: 'tenant', items };
  t.same(await processor.consume(sent, { receivedAt: 0 }), { accepted: 1, refused: [] });
  t.same(sent, { tenant: 'tenant', items });
  const batch = invariant(passed[0], 'what was passed on');
  t.same(batch, { ...sent, service_map: batch.service_map });
  const map = mapOf(batch);
  t.same(map?.names, ['writer', 'api.example.com']);
  t.same([...(map?.nodes ?? [])], [0, -1, 1]);
  t.same([...(map?.callers ?? [])], [-1, 0, 0]);
  t.ok(batch.service_map && fitsBatch(batch.service_map, items));
  t.same(logger.lines, []);
});

void t.test('handles batches without spans or traces', async (t) => {
  const { processor, passed } = await startMap();
  const batches = [[], [aTrace(0)], [aTrace(0), aTrace(3)]];
  for (const items of batches) await processor.consume({ tenant: 'tenant', items }, { receivedAt: 0 });
  t.same(passed.map(mapOf), batches.map(deriveMap));
});

void t.test('accepts the keys of its former threads, and says that they have no effect', async (t) => {
  const { logger } = await startMap('{ threads: 2, max_queue: 10, max_wait: 1s }');
  t.match(logger.lines.join('\n'), /no settings any more.*threads.*max_queue.*max_wait/);
});
