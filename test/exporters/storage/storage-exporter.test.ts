import t from 'tap';
import { ConsumeError } from '../../../src/component/consume-error.js';
import type { ConsumeContext, Receipt } from '../../../src/component/consumer.js';
import type { PipelineShape } from '../../../src/component/daemon-view.js';
import type { Host } from '../../../src/component/host.js';
import { storageExporter } from '../../../src/exporters/storage/factory.js';
import type { TracesBatch } from '../../../src/signal/batch.js';
import { componentSettings } from '../../support/component-settings.js';

const BATCH: TracesBatch = { tenant: 'a-user', items: [] };
const CONTEXT: ConsumeContext = { receivedAt: 7 };

function hostWith(extensions: Readonly<Record<string, unknown>>): Host {
  const pipelines: PipelineShape[] = [
    { name: 'traces', signal: 'traces', receivers: ['otlp'], processors: [], exporters: ['storage'] },
    {
      name: 'logs',
      signal: 'logs',
      receivers: ['otlp'],
      processors: [],
      exporters: ['storage/contracts/logs'],
    },
  ];
  const host = {
    daemon: { pipelines },
    extension: <T>(id: string, isWanted: (candidate: unknown) => candidate is T): T => {
      const found = extensions[id];
      if (!isWanted(found)) throw new Error(`${id} is no store`);
      return found;
    },
  };
  return host as unknown as Host;
}

void t.test('passes batch and context to the configured store and returns its receipt', async (t) => {
  const receipt: Receipt = { accepted: 3, refused: [{ index: 1, reason: 'because' }] };
  const seen: unknown[] = [];
  const writer = {
    traces: async (...given: unknown[]) => {
      seen.push(...given);
      return receipt;
    },
  };
  const store = { writer };
  const exporter = storageExporter.create({
    ...componentSettings('storage'),
    config: { store: 'duckdb/archive' },
  });
  await exporter.start?.(hostWith({ 'duckdb/archive': store }));
  t.equal(await exporter.inputs.traces?.consume(BATCH, CONTEXT), receipt);
  t.strictSame(seen[0], BATCH);
  t.equal(seen[1], CONTEXT);
});

void t.test('does not start without its store', async (t) => {
  const exporter = storageExporter.create({ ...componentSettings('storage'), config: { store: 'query' } });
  await t.rejects(async () => exporter.start?.(hostWith({ query: {} })), /no store/);
});

void t.test('the start rejects a store that lacks a signal of the pipeline', async (t) => {
  const take = async (): Promise<Receipt> => ({ accepted: 0, refused: [] });
  const host = hostWith({ clickhouse: { writer: { metrics: take, logs: take } } });
  const config = { store: 'clickhouse' };
  const exporter = storageExporter.create({ ...componentSettings('storage'), config });
  await t.rejects(async () => exporter.start?.(host), {
    message:
      'Extension "clickhouse" stores metrics and logs but no traces: use an exporter with another store in pipeline "traces"',
  });
  await storageExporter.create({ ...componentSettings('storage/contracts/logs'), config }).start?.(host);
});

void t.test('rejects a batch before the start instead of losing it', async (t) => {
  const exporter = storageExporter.create({ ...componentSettings('storage'), config: { store: 'duckdb' } });
  await t.rejects(async () => {
    await exporter.inputs.traces?.consume(BATCH, CONTEXT);
  }, ConsumeError);
});

void t.test('only the first part of a batch has its name', async (t) => {
  const seen: unknown[] = [];
  const logs = async (_: unknown, { batch }: ConsumeContext): Promise<Receipt> => {
    seen.push(batch);
    return Promise.resolve({ accepted: 0, refused: [] });
  };
  const exporter = storageExporter.create({
    ...componentSettings('storage/contracts/logs'),
    config: { store: 'duckdb' },
  });
  await exporter.start?.(hostWith({ duckdb: { writer: { logs } } }));
  const [one, another] = [{ id: 'one' }, { id: 'one' }];
  for (const batch of [one, one, another])
    await exporter.inputs.logs?.consume({ tenant: 'a', items: [] }, { receivedAt: 7, batch });
  t.strictSame(seen, [one, undefined, another]);
});
