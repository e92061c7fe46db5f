import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ApiCaller } from '../../support/api-caller.js';
import { startTestDaemon } from '../../support/daemon.js';
import { traceIdOf } from '../../support/header-text.js';
import { testFolder } from '../../support/test-folder.js';
import { aSpan, anItem, type Changes, type Item } from '../../support/trace-batch.js';

interface Priced {
  readonly model: string;
  readonly is_used: boolean;
  readonly processor: string;
  readonly pipelines: readonly string[];
  readonly rule: string | null;
  readonly price: { readonly input: number } | null;
  readonly providers: readonly object[];
}

const HOUSE = `date: '2026-11-01'
models:
  - { match: [ours-*], provider: azure.*, input: 9, output: 9 }
  - { match: [ours-*], input: 1, output: 4, cache_read: 0.1, long: { over: 1000, input: 2, output: 8 } }
  - { match: [sold-by-one], provider: azure.*, input: 3, output: 3 }
  - { match: ['*'], provider: nobody, input: 3, output: 3 }
`;

/** Runs of one call each, with tokens and costs as sent. */
function runs(calls: readonly Changes[]): Item[] {
  return calls.map((call) => {
    const item = anItem({ spans: 0 });
    const span = aSpan(traceIdOf(item), { total_tokens: undefined, cost_usd: undefined, ...call });
    return { ...item, spans: [span] };
  });
}

void t.test('shows the prices of calls and what another model would have cost', async (t) => {
  const directory = testFolder(t);
  const prices = join(directory, 'house.yaml');
  writeFileSync(prices, HOUSE);
  const from = { receivers: ['otlp'] };
  const overlay = JSON.stringify({
    processors: { 'cost/house': { prices }, 'cost/away': { prices } },
    service: {
      pipelines: {
        traces: { receivers: ['trace_batch'] },
        'traces/house': { ...from, processors: ['cost/house'], exporters: ['storage'] },
        'traces/again': { ...from, processors: ['cost/house'], exporters: ['storage'] },
        'traces/away': { ...from, processors: ['cost/away'], exporters: ['debug'] },
      },
    },
    exporters: { debug: {} },
  });
  const { url, key } = await startTestDaemon(t, { directory, overlay });
  const api = new ApiCaller(url, key);
  const used = async (): Promise<readonly Priced[]> =>
    (await api.get<readonly Priced[]>('/dashboard/prices')).filter(({ is_used }) => is_used);
  t.same(await used(), []);
  await api.send(
    runs([
      // Price of the shipped table: 1000 · 0.15 + 100 · 0.6 millionths.
      {
        model: 'gpt-4o-mini',
        input_tokens: 1000,
        output_tokens: 100,
        metadata: { usage: { cache_read: 600 } },
      },
      { model: 'gpt-4o-mini', input_tokens: 2000, output_tokens: 100, cost_usd: '0.5' },
      { model: 'gpt-4o-mini', input_tokens: null, output_tokens: null, total_tokens: 50 },
      { model: 'gpt-4o-mini', input_tokens: null, output_tokens: null, cost_usd: '0.25' },
      {
        model: 'gpt-4o-mini',
        status: 'running',
        ended_at: undefined,
        duration_ms: undefined,
        input_tokens: 5,
        output_tokens: 5,
      },
      { model: "o'rare", input_tokens: 100, output_tokens: 10 },
      { model: null, input_tokens: 10, output_tokens: 10 },
    ]),
  );

  await t.test('one row for each cost processor that feeds this store', async (t) => {
    const rows = await used();
    t.same(
      rows.map(({ model, processor, pipelines }) => [model, processor, pipelines.join()]),
      [
        ['gpt-4o-mini', 'cost', 'traces'],
        ['gpt-4o-mini', 'cost/house', 'traces/house,traces/again'],
        ["o'rare", 'cost', 'traces'],
        ["o'rare", 'cost/house', 'traces/house,traces/again'],
      ],
    );
    t.match(rows[0], {
      rule: /prices\.yaml:\d+ gpt-4o-mini/,
      price: { input: 0.15, cached_read: 0.075, long: null },
    });
    t.match(rows[2], { rule: null, price: null, providers: [] }, 'not in the shipped table');
    t.match(rows[3], { rule: null, price: null, providers: [{ provider: 'nobody', price: { input: 3 } }] });
    const all = await api.get<readonly Priced[]>('/dashboard/prices');
    t.ok(all.length > 50, 'other known providers');
    t.match(
      all.find(({ model, processor }) => model === 'ours-' && processor === 'cost/house'),
      {
        is_used: false,
        rule: 'house.yaml:4 ours-* (2026-11-01)',
        price: {
          input: 1,
          output: 4,
          cached_read: 0.1,
          cached_write: 1,
          audio_output: 4,
          long: { over: 1000, input: 2, cached_read: 2 },
        },
        providers: [{ provider: 'azure.*', rule: 'house.yaml:3 ours-* of azure.* (2026-11-01)' }],
      },
    );
    t.same(
      all.filter(({ model, processor }) => model === 'sold-by-one' && processor === 'cost'),
      [],
      'listed where it is known',
    );
    const old = await api.get<readonly Priced[]>('/dashboard/prices?end_time=2020-01-01T00:00:00Z');
    t.same(
      old.filter(({ is_used }) => is_used),
      [],
    );
  });

  const whatIf = (query: string) => api.get<Record<string, unknown>>(`/dashboard/models/what-if?${query}`);

  await t.test('reprices each call: caches, long inputs, unpriced and incomparable calls', async (t) => {
    t.match(await whatIf('model=gpt-4o-mini&as=ours-5&processor=cost/house'), {
      model: 'gpt-4o-mini',
      as: 'ours-5',
      processor: 'cost/house',
      rule: 'house.yaml:4 ours-* (2026-11-01)',
      reason: null,
      repriced: {
        calls: 5,
        priced_calls: 3,
        repriced_calls: 2,
        // 400 · 1 + 600 · 0.1 + 100 · 4 millionths; and 2000 · 2 + 100 · 8 because of the long input.
        repriced_cost: 0.00566,
        both_calls: 2,
        both_repriced_cost: 0.00566,
        left_out: { running: 1, no_tokens: 1, no_parts: 1, too_large: 0 },
        tokens: { input: 2400, cached_read: 600, cached_write: 0, output: 200 },
        long_calls: 1,
      },
    });
    const { repriced } = await whatIf('model=gpt-4o-mini&as=gpt-4o-mini');
    const { both_cost, total_cost } = repriced as {
      readonly both_cost: number;
      readonly total_cost: number;
    };
    t.equal(
      Math.round((total_cost - both_cost) * 1e9),
      250_000_000,
      'a cost without tokens is not comparable',
    );
    t.match(await whatIf("model=o'rare&as=gpt-4o-mini"), {
      repriced: { calls: 1, priced_calls: 0, total_cost: null, repriced_cost: 0.000021, both_cost: null },
    });
    t.match(await whatIf('as=gpt-4o-mini'), { model: null, repriced: { calls: 1, repriced_calls: 1 } });
    t.match(await whatIf('model=gpt-4o-mini&as=gpt-4o-mini&end_time=2020-01-01T00:00:00Z'), {
      repriced: { calls: 0, repriced_cost: null, total_cost: null },
    });
  });

  await t.test('a missing price gives a reason instead of an amount', async (t) => {
    t.match(await whatIf('model=gpt-4o-mini&as=unheard-of'), {
      reason: 'unknown_model',
      rule: null,
      repriced: null,
    });
    t.match(await whatIf('model=gpt-4o-mini&as=sold-by-one&processor=cost/house'), {
      reason: 'certain_providers',
      providers: [{ provider: 'azure.*' }, { provider: 'nobody' }],
      repriced: null,
    });
    const unknown = await api.call('GET', '/dashboard/models/what-if?as=x&processor=cost/away');
    t.equal(unknown.status, 422);
    t.match(JSON.stringify(unknown.body), 'must be one of: cost, cost/house');
    const other = await api.createUser('other@example.com', ['read']);
    t.match(await api.get('/dashboard/models/what-if?model=gpt-4o-mini&as=gpt-4o-mini', other.key), {
      repriced: { calls: 0 },
    });
  });
});

void t.test('lists prices only of pipelines with a cost processor', async (t) => {
  for (const [traces, away, expected] of [
    [{ processors: ['validation'] }, { processors: [] as string[] }, []],
    [{ processors: ['validation'] }, { processors: ['cost'] }, ['traces/away']],
  ] as const) {
    const pipelines = { traces, 'traces/away': { receivers: ['otlp'], exporters: ['debug'], ...away } };
    const overlay = JSON.stringify({ exporters: { debug: {} }, service: { pipelines } });
    const { url, key } = await startTestDaemon(t, { overlay });
    const api = new ApiCaller(url, key);
    const rows = await api.get<readonly Priced[]>('/dashboard/prices');
    t.same([...new Set(rows.flatMap((row) => row.pipelines))], expected);
    if (expected.length === 0)
      t.match(await api.get('/dashboard/models/what-if?as=gpt-5'), {
        processor: null,
        reason: 'no_prices',
      });
  }
});
