import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Type } from 'typebox';
import type { ExporterFactory } from '../../src/component/factory.js';
import { section } from '../../src/config/schema.js';
import { deliveryKeys } from '../../src/delivery/queue/config.js';
import { startTestDaemon } from '../support/daemon.js';
import { heldMemory } from '../support/held-memory.js';
import { testFolder } from '../support/test-folder.js';
import { until } from '../support/until.js';

void t.test('requests at the same time share a reload', async (t) => {
  const { daemon } = await startTestDaemon(t);
  const [first, ...others] = await Promise.all(Array.from({ length: 5 }, () => daemon.reload()));
  for (const report of others) t.equal(report, first);
  t.not(await daemon.reload(), first);
});

void t.test('replaced components leave memory, and undecided runs go to the new sampler', async (t) => {
  const components: WeakRef<object>[] = [];
  const factory: ExporterFactory = {
    kind: 'exporter',
    type: 'watched',
    description: 'Watched.',
    stability: 'stable',
    signals: ['logs'],
    delivery: 'queued',
    configSchema: section({ number: Type.Integer({ description: 'Number.' }), ...deliveryKeys() }),
    create: () => {
      const component = { inputs: { logs: { consume: () => Promise.reject(new Error('unused')) } } };
      components.push(new WeakRef(component));
      return component;
    },
  };
  const directory = testFolder(t);
  const overlay = (number: number) => `
processors: { sample: { wait: ${10 + number}h, after_end: 0s, percentage: 0, keep: ['${number} < 20'], directory: "${directory}/held" } }
exporters: { watched: { number: ${number} } }
service:
  pipelines:
    traces: { receivers: [trace_batch, otlp], processors: [validation, sample], exporters: [storage] }
    logs: { receivers: [otlp], processors: [], exporters: [storage, watched] }
`;
  const { daemon, url, key } = await startTestDaemon(t, {
    directory,
    factories: [factory],
    overlay: overlay(0),
  });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const trace_id = randomUUID();
  const send = async (ended_at: string | null) => {
    const times = { started_at: '2026-01-15T12:00:00Z', ended_at };
    const trace = { trace_id, agent: 'held', status: ended_at === null ? 'running' : 'completed', ...times };
    const span = {
      span_id: randomUUID(),
      parent_span_id: randomUUID(),
      trace_id,
      type: 'tool',
      name: 'look',
      ...times,
    };
    const body = JSON.stringify({ traces: [{ trace, spans: [span] }] });
    const response = await fetch(`${url}/api/v1/traces/batch`, { method: 'POST', headers, body });
    t.match(await response.json(), { accepted: 1 });
  };
  const read = async () => fetch(`${url}/api/v1/dashboard/traces/${trace_id}`, { headers });
  await send(null);
  for (let number = 1; number <= 8; number++) {
    writeFileSync(join(directory, 'reload.yaml'), overlay(number));
    t.match(await daemon.reload(), {
      result: 'applied',
      changed: ['exporter "watched"', 'processor "sample" in pipeline "traces"'],
    });
  }
  t.equal((await read()).status, 404, 'it is not decided yet');
  await send('2026-01-15T12:00:01Z');
  await until('the run is decided', async () => (await read()).status === 200);
  const { spans } = (await (await read()).json()) as { readonly spans: readonly unknown[] };
  t.equal(spans.length, 2, 'with the part that another sampler held');

  await until('replaced components are collected', async () => {
    await heldMemory();
    return components.filter((component) => component.deref() !== undefined).length <= 2;
  });
});
