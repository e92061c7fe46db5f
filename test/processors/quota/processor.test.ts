import t, { type Test } from 'tap';
import type { Consumer, Receipt } from '../../../src/component/consumer.js';
import type { Host } from '../../../src/component/host.js';
import { builtinFactories } from '../../../src/builtin.js';
import { DEFAULT_CONFIG } from '../../../src/cli/default-config.js';
import { ConfigError } from '../../../src/config/config-error.js';
import { prepare } from '../../../src/pipeline/prepare.js';
import { quotaConfig } from '../../../src/processors/quota/config.js';
import { quotaProcessor } from '../../../src/processors/quota/factory.js';
import { TELEMETRY_SIGNALS, type Batch, type TelemetrySignal } from '../../../src/signal/batch.js';
import { componentSettings } from '../../support/component-settings.js';
import { environmentOf } from '../../support/config-problems.js';
import { openControlStore } from '../../support/control-store.js';
import { NOON } from '../../support/run-records.js';
import { sectionConfig } from '../../support/section-config.js';

const CONTEXT = { receivedAt: 7 };

/** The processor in a pipeline of one signal, with its output. */
function inPipeline(signal: TelemetrySignal, yaml: string) {
  const passed: Batch<unknown>[] = [];
  const receipt: Receipt = { accepted: 1, refused: [], usage: { limit: 5, used: 1, resets_at: 9 } };
  const next: Consumer<Batch<unknown>> = {
    consume: async (batch, context) => {
      passed.push(batch);
      t.equal(context, CONTEXT);
      return receipt;
    },
  };
  const settings = { ...componentSettings('quota'), config: sectionConfig(quotaConfig, yaml) };
  const processor = quotaProcessor.create[signal]?.({ ...settings, next });
  if (!processor) throw new Error(`there is no processor for ${signal}`);
  return { processor, passed, receipt };
}

const STORE = { writer: {}, usage: {}, identity: async () => 'a-store' };

/** With a control store in files and a telemetry store of which only the name is used. */
async function aHost(t: Test) {
  const control = await openControlStore(t);
  const extensions: Readonly<Record<string, unknown>> = { duckdb: STORE, sqlite: control };
  const host: Pick<Host, 'extension'> = {
    extension: (id, isWanted) => {
      const found = extensions[id] ?? {};
      if (!isWanted(found)) throw new Error(`${id} is no store`);
      return found;
    },
  };
  return { host: host as Host, control };
}

void t.test('marks only batches that count and returns the receipt', async (t) => {
  const kinds = { traces: 'spans', metrics: 'metric_points', logs: 'log_records' } as const;
  for (const signal of TELEMETRY_SIGNALS) {
    for (const counted of TELEMETRY_SIGNALS) {
      const yaml = `monthly_events: 12\ncount: [${kinds[counted]}]`;
      const { processor, passed, receipt } = inPipeline(signal, yaml);
      const batch = { tenant: 'a-user', items: [] };
      t.equal(await processor.consume(batch, CONTEXT), receipt);
      const [out] = passed;
      if (signal === counted) {
        t.same(out, { ...batch, quota: { monthly_items: 12 } });
        t.equal(out?.items, batch.items);
        t.same(batch, { tenant: 'a-user', items: [] }, 'the given batch is unchanged');
      } else t.equal(out, batch);
    }
  }
});

void t.test('the smallest limit of several applies', async (t) => {
  for (const [before, own, expected] of [
    [50, 100, 50],
    [100, 50, 50],
    [0, 50, 50],
    [50, 0, 50],
    [0, 0, 0],
  ] as const) {
    const { processor, passed } = inPipeline('traces', `monthly_events: ${own}`);
    await processor.consume({ tenant: 'a-user', items: [], quota: { monthly_items: before } }, CONTEXT);
    t.match(passed, [{ quota: { monthly_items: expected } }]);
  }
});

void t.test('publishes its limit while running', async (t) => {
  const { host, control } = await aHost(t);
  const published = () => control.settings.all(NOON);
  const deadline = AbortSignal.timeout(1000);
  const { processor } = inPipeline('traces', 'monthly_events: 12');
  const other = inPipeline('logs', 'monthly_events: 30').processor;
  await processor.start?.(host);
  await other.start?.(host);
  t.same(
    await published(),
    [{ quota: { store: 'a-store', monthly_events: 12 } }],
    'log records do not count',
  );
  await processor.shutdown?.(deadline);
  await processor.shutdown?.(deadline);
  await other.shutdown?.(deadline);
  t.same(await published(), []);
});

void t.test('does not start without its stores, and validate reports it', async (t) => {
  const { processor } = inPipeline('traces', 'store: query');
  const { host } = await aHost(t);
  await t.rejects(async () => processor.start?.(host), /query is no store/);
  const lost = inPipeline('traces', 'control: duckdb').processor;
  await t.rejects(async () => lost.start?.(host), /duckdb is no store/);
  const relay = `extensions: { query: null, duckdb: null }
processors: { quota: { store: duckdb/none } }
`;
  const prepared = prepare(
    [DEFAULT_CONFIG, { file: 'relay.yaml', text: relay }],
    environmentOf({}),
    builtinFactories,
  );
  const error: unknown = await prepared.catch((thrown: unknown) => thrown);
  if (!(error instanceof ConfigError)) throw new Error('it is taken');
  t.match(
    error.problems.find(({ path }) => path.join('/') === 'processors/quota/store'),
    { message: /duckdb\/none/ },
  );
});

void t.test('rejects invalid quotas', (t) => {
  t.same(sectionConfig(quotaConfig, '{}'), {
    monthly_events: 0,
    count: ['spans'],
    store: 'duckdb',
    control: 'sqlite',
  });
  for (const [yaml, message] of [
    ['monthly_events: -1', />= 0/],
    ['monthly_events: 1.5', /whole number/],
    ['count: [traces]', /"spans", "metric_points", "log_records"/],
    ['count: [spans, spans]', /duplicate/],
    ['monthly: 5', /unknown key "monthly"/],
  ] as const)
    t.throws(() => sectionConfig(quotaConfig, yaml), { message });
  t.end();
});
