import t from 'tap';
import { startApi, type TestApi } from '../../support/api.js';
import { traceIdOf } from '../../support/header-text.js';
import { anItem, aSpan } from '../../support/trace-batch.js';
import type { JsonObject } from '../../../src/signal/attributes.js';

interface Page {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly count: number | null;
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** Runs of 1, 2 … seconds that cost as many cents; the longest started first. */
async function sendRuns(api: TestApi, number: number, more: Record<string, unknown> = {}): Promise<string[]> {
  const items = Array.from({ length: number }, (_, i) => {
    const started_at = new Date(Date.UTC(2026, 0, 15, 12) - i * 60_000).toISOString();
    const stats = { duration_ms: (i + 1) * 1000, total_cost_usd: (i + 1) / 100 };
    return anItem({ trace: { started_at, ended_at: undefined, ...stats, ...more }, spans: 1 });
  });
  await api.send(items);
  return items.map(traceIdOf);
}

const idsOf = ({ items }: Page) => items.map(({ trace_id }) => trace_id);

void t.test('sorts runs by their statistics, in both orders and by cursor', async (t) => {
  const api = await startApi(t);
  const ids = await sendRuns(api, 5);
  const list = (query: string) => api.get<Page>(`/dashboard/traces?${query}`);
  const agents = await api.get<{ id: string }[]>('/agents');
  const all = await list('page_size=2');
  t.strictSame(idsOf(all), ids.slice(0, 2));
  t.match(all, { count: 5, has_more: true, items: [{ agent_id: agents[0]?.id, span_count: 1 }, {}] });
  t.strictSame(idsOf(await list(`page_size=2&cursor=${String(all.next_cursor)}`)), ids.slice(2, 4));

  const longest = await list('sort=duration_ms&page_size=3&count=none');
  t.strictSame(idsOf(longest), ids.toReversed().slice(0, 3));
  t.match(longest, { count: null, has_more: true });
  const rest = await list(`sort=duration_ms&cursor=${String(longest.next_cursor)}`);
  t.strictSame(idsOf(rest), ids.toReversed().slice(3));
  t.match(rest, { count: null, has_more: false, next_cursor: null });
  t.strictSame(idsOf(await list('sort=total_cost_usd&order=asc')), ids);
  t.strictSame(idsOf(await list('order=asc')), ids.toReversed());
  t.strictSame(idsOf(await list('min_duration_ms=2000&max_duration_ms=3000')), ids.slice(1, 3));
  t.match(await list('min_cost=0.02&max_cost=0.04'), { count: 3 });
  for (const query of [
    'cursor=x',
    `cursor=${String(longest.next_cursor)}`,
    'sort=outcome',
    'order=up',
    'count=all',
    'min_cost=much',
  ])
    t.equal((await api.call('GET', `/dashboard/traces?${query}`)).status, 422, query);
});

void t.test('filters runs by spans and prompts, with span columns', async (t) => {
  const api = await startApi(t);
  const [first, second, third] = await sendRuns(api, 3);
  await api.send([anItem({ trace: { trace_id: second }, spans: 0 })]);
  const { trace, spans } = anItem({ trace: { started_at: '2026-01-14T00:00:00Z', ended_at: undefined } });
  const failed = spans.map((span) => ({
    ...span,
    model: 'model-two',
    name: 'search',
    type: 'tool',
    status: 'failed',
  }));
  await api.send([{ trace, spans: failed }]);
  const json = { name: 'p', version: 1, template_text: 'x' };
  t.equal((await api.call('POST', '/dashboard/prompts/', { json })).status, 201);
  const usage = { prompt_name: 'p', prompt_version: 1, trace_id: third };
  t.equal((await api.call('POST', '/dashboard/prompts/usage', { json: usage })).status, 201);
  const list = (query: string) => api.get<Page>(`/dashboard/traces?${query}`);
  const one = await list('model=model-one&page_size=2');
  t.strictSame(idsOf(one), [first, second]);
  t.match(one, { count: null, has_more: true, page: 1 });
  t.strictSame(idsOf(await list(`model=model-one&cursor=${String(one.next_cursor)}`)), [third]);
  t.strictSame(idsOf(await list('span_name=search&span_type=tool')), [trace['trace_id']]);
  t.strictSame(idsOf(await list('span_name=search&span_type=llm')), []);
  t.strictSame(idsOf(await list('node=researcher')), [], 'an agent without a span of its own');
  t.strictSame(idsOf(await list('prompt_name=p')), [third]);
  t.strictSame(idsOf(await list('prompt_name=p&prompt_version=2')), []);
  t.match(await list('model=model-two&previews=true'), {
    items: [{ models: ['model-two'], error_span_count: 1, input_preview: 'Why is the sky blue?' }],
  });
  t.notOk('models' in ((await list('page_size=1')).items[0] ?? {}), 'only on request');
  t.equal((await api.call('GET', '/dashboard/traces?prompt_version=1')).status, 422);
  t.equal((await api.call('GET', '/dashboard/traces?span_type=x')).status, 422);
  const file = await fetch(`${api.url}/api/v1/dashboard/traces?model=model-two`, {
    headers: { authorization: `Bearer ${api.adminKey}`, accept: 'application/x-ndjson' },
  });
  t.match(
    JSON.parse(await file.text()),
    { trace_id: trace['trace_id'] },
    'the export equals the search result',
  );
});

void t.test('filters runs by costs larger than one amount can hold', async (t) => {
  const api = await startApi(t);
  const item = anItem({ trace: { total_cost_usd: undefined }, spans: 2 });
  const spans = item.spans.map((span) => ({ ...span, cost_usd: '600000.000000001' }));
  const most = anItem({ trace: { total_cost_usd: '999999.999999999' } });
  await api.send([{ ...item, spans }, most]);
  const found = async (query: string) => idsOf(await api.get<Page>(`/dashboard/traces?${query}&order=asc`));
  const [sum, single] = [traceIdOf(item), traceIdOf(most)];
  t.strictSame(await found('min_cost=1200000.000000002'), [sum]);
  t.strictSame(await found('min_cost=1200000.1'), []);
  t.strictSame(await found('max_cost=1200000'), [single]);
  t.strictSame(await found('max_cost=999999.9'), []);
  t.same(new Set(await found('max_cost=1e308')), new Set([sum, single]));
  t.strictSame(await found('min_cost=1e308'), []);
});

void t.test('finds runs by what was said in them, and the spans of one run', async (t) => {
  const api = await startApi(t);
  const [first = '', second = ''] = await sendRuns(api, 2);
  await api.send([
    anItem({
      trace: { agent: 'other', outcome: 'sky is grey', started_at: '2026-01-16T00:00:00Z' },
      spans: 0,
    }),
  ]);
  const list = async (query: string) =>
    await api.get<Page & { readonly searched_back_to: string | null }>(`/dashboard/traces?${query}`);
  const page = await list('query=%22why+is+the+sky%22&page_size=1');
  t.strictSame(idsOf(page), [first]);
  t.match(page, { count: null, has_more: true, searched_back_to: page.items[0]?.started_at });
  const [found] = page.items as readonly { readonly match: { snippet: string; marks: [number, number][] } }[];
  t.match(found?.match, { field: 'input_data', span_type: 'llm' });
  const { snippet, marks } = found?.match ?? { snippet: '', marks: [] };
  t.strictSame(
    marks.map(([start, end]) => snippet.slice(start, end)),
    ['Why is the sky'],
  );
  const rest = await list(`query=%22why+is+the+sky%22&cursor=${String(page.next_cursor)}`);
  t.strictSame(idsOf(rest), [second]);
  t.match(rest, { has_more: false, next_cursor: null, searched_back_to: null });
  t.equal(idsOf(await list('query=sky')).length, 3);
  t.equal(idsOf(await list('query=sky+-rayleigh')).length, 1);
  t.equal(idsOf(await list('query=rayl*+sky&max_duration_ms=1000')).length, 1);
  t.strictSame(idsOf(await list('query=%22%22')), []);
  const spans = await api.get<Page>(`/dashboard/traces/${first}/search?query=scattering`);
  t.match(spans, { items: [{ field: 'output_data', span_name: 'answer' }], next_cursor: null });
  t.equal(spans.items.length, 1);
  const path = '/dashboard/traces/00000000-0000-4000-8000-000000000001/search?query=x';
  t.equal((await api.call('GET', path)).status, 404);
  t.equal((await api.call('GET', `/dashboard/traces/${first}/search`)).status, 422);
  t.equal((await api.call('GET', `/dashboard/traces/${first}/search?query=x&cursor=x`)).status, 422);
});

void t.test('filters by metadata and versions, suggests values, and searches everything', async (t) => {
  const api = await startApi(t);
  const started_at = '2026-01-15T12:00:00Z';
  await api.send([
    anItem({
      trace: {
        agent: 'Plan maker',
        started_at,
        release: 'v1.4.2',
        metadata: { plan: 'pro', user_id: 'planck' },
      },
    }),
    anItem({
      trace: { agent: 'other', started_at, release: 'v2', metadata: { plan: 'free', session_id: 'plan-9' } },
    }),
  ]);
  const count = async (query: string) => (await api.get<Page>(`/dashboard/traces?${query}`)).count;
  const drawn = async (query: string) =>
    (
      await api.get<{ total: { runs: number } }>(
        `/dashboard/series?start_time=2026-01-15T00:00:00Z&end_time=2026-01-16T00:00:00Z&${query}`,
      )
    ).total.runs;
  for (const [query, expected] of [
    ['metadata.plan=pro', 1],
    ['metadata.plan!=pro', 1],
    ['metadata.plan~=R', 2],
    ['release~=1.4', 1],
    ['release!=v3&metadata.plan=free', 1],
    ['environment!=x', 2],
    ['user_id=planck', 1],
  ] as const)
    t.strictSame([await count(query), await drawn(query)], [expected, expected], query);
  t.strictSame(await api.get('/dashboard/traces/values?field=metadata.plan&query=FR'), {
    items: [{ value: 'free', runs: 1 }],
  });
  for (const field of ['cost', 'attribute.'])
    t.match(await api.call('GET', `/dashboard/traces/values?field=${field}`), {
      status: 422,
      body: {
        errors: [{ field: 'field', message: /must be one of environment, .*metadata\.KEY, attribute/ }],
      },
    });
  for (const query of ['attribute.=x', 'attribute.!=x', 'metadata.~=x'])
    t.match(await api.call('GET', `/dashboard/traces?${query}`), {
      status: 422,
      body: { errors: [{ message: /must name a key/ }] },
    });
  const all = await api.get<{ runs: unknown[] }>('/dashboard/search?query=plan');
  t.match(all, {
    agents: [{ name: 'Plan maker' }],
    prompts: [],
    models: [],
    sessions: [{ value: 'plan-9', runs: 1 }],
    users: [{ value: 'planck', runs: 1 }],
    runs: [{ match: {} }, { match: {} }],
    runs_searched_back_to: null,
    logs: [],
  });
  for (const query of ['', '?query=', '?query=%20'])
    t.equal((await api.call('GET', `/dashboard/search${query}`)).status, 422);
});

void t.test('exports all runs as CSV that spreadsheets do not evaluate', async (t) => {
  const api = await startApi(t);
  await sendRuns(api, 2, {
    agent: '=HYPERLINK("http://evil.example","x")',
    outcome: '+1, "quoted"\nand more',
  });
  const ids = await sendRuns(api, 30);
  const fetchAs = (accept: string, query = '') =>
    fetch(`${api.url}/api/v1/dashboard/traces${query}`, {
      headers: { authorization: `Bearer ${api.adminKey}`, accept },
    });
  const csv = await fetchAs('text/csv;q=0.9, text/html', '?page_size=1');
  t.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8; header=present');
  t.equal(csv.headers.get('content-disposition'), 'attachment; filename="runs.csv"');
  const lines = (await csv.text()).split('\r\n');
  t.equal(lines.length, 34, 'header, runs and a final line end');
  t.match(lines[0], /^trace_id,agent_id,agent_name,/);
  const hostile = lines.filter((line) => line.includes('HYPERLINK'));
  t.equal(hostile.length, 2);
  for (const line of hostile) {
    t.match(line, `"'=HYPERLINK(""http://evil.example"",""x"")"`);
    t.match(line, `"'+1, ""quoted""\nand more"`);
  }
  for (const [outcome, cell] of [
    ['x;=HYPERLINK("http://evil.example")', `"x;'=HYPERLINK(""http://evil.example"")"`],
    ['x;"=1+1', `"x;'""=1+1"`],
    ['x\n@SUM(1)\t+1', `"x\n'@SUM(1)\t'+1"`],
    ['\n=1+1', `"'\n'=1+1"`],
    ['＝1+1', "'＝1+1"],
    ['a;b, c', '"a;b, c"'],
    ['-5.25', '-5.25'],
    ['-5;-6', '"-5;-6"'],
    ['-5+cmd', "'-5+cmd"],
    ['3 - 4 = -1', '3 - 4 = -1'],
  ] as const) {
    const [id] = await sendRuns(api, 1, { agent: 'cells', outcome });
    const text = await (await fetchAs('text/csv', '?query=cells')).text();
    const line = text.split('\r\n').find((one) => one.startsWith(id ?? '-')) ?? '';
    t.ok(line.includes(`,${cell},`), `${outcome}: ${line}`);
  }
  const ndjson = await fetchAs('application/x-ndjson', '?query=researcher');
  t.equal(ndjson.headers.get('content-type'), 'application/x-ndjson');
  const runs = (await ndjson.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { trace_id: string; agent_id: string });
  t.strictSame(
    runs.map(({ trace_id }) => trace_id),
    ids,
  );
  const { items } = await api.get<Page>(`/dashboard/traces?page_size=1&agent_id=${runs[0]?.agent_id ?? ''}`);
  t.strictSame(runs[0], items[0], 'a run as in the list');
  t.equal((await fetchAs('text/csv', '?sort=x')).status, 422);
  for (const [accept, type] of [
    ['text/csv;q=0', 'application/json'],
    ['application/json, text/csv;q=0.5', 'application/json'],
    ['text/csv;q=0.5, application/x-ndjson', 'application/x-ndjson'],
    ['application/json;q=0.5, text/csv;q=0.6', 'text/csv; charset=utf-8; header=present'],
  ] as const)
    t.equal((await fetchAs(accept)).headers.get('content-type'), type, accept);
});

void t.test('counts the runs that a search finds over time', async (t) => {
  const api = await startApi(t);
  await sendRuns(api, 3, { outcome: 'refund granted' });
  await sendRuns(api, 2, { outcome: 'refund refused', status: 'failed' });
  await sendRuns(api, 1, { outcome: 'something else' });
  const path = '/dashboard/traces/search-series';
  const times = 'start_time=2026-01-15T11:00:00Z&end_time=2026-01-15T12:00:00.001Z';
  t.strictSame(await api.get(`${path}?query=refund&${times}`), {
    interval: '1m',
    start_time: '2026-01-15T11:00:00Z',
    end_time: '2026-01-15T12:00:00.001Z',
    runs: 5,
    failed: 2,
    buckets: [
      { start: '2026-01-15T11:58:00Z', runs: 1, failed: 0 },
      { start: '2026-01-15T11:59:00Z', runs: 2, failed: 1 },
      { start: '2026-01-15T12:00:00Z', runs: 2, failed: 1 },
    ],
    searched_back_to: null,
  });
  t.match(await api.get(`${path}?query=refund&status=failed&min_duration_ms=2000&${times}`), {
    runs: 1,
    failed: 1,
  });
  t.match(await api.get(`${path}?query=nowhere&${times}`), { runs: 0, buckets: [] });
  t.match(await api.get(`${path}?${times}`), { runs: 6, failed: 2 }, 'without a query all runs');
});

void t.test('filters by attributes of spans: lists, counts, exports and suggestions', async (t) => {
  const api = await startApi(t);
  const keys = ['plan', 'a.b/c', `it's "q" \\x`, 'nul\0', '東京 &=%', 'x'.repeat(1000), '__proto__', 'end!x'];
  const items = keys.map((key, i) => {
    const started_at = new Date(Date.UTC(2026, 0, 15, 12, i)).toISOString();
    const item = anItem({ trace: { started_at, ended_at: undefined }, spans: 0 });
    const metadata = JSON.parse(`{${JSON.stringify(key)}:"value ${i}"}`) as JsonObject;
    return { ...item, spans: [aSpan(traceIdOf(item), { name: 'find', metadata })] };
  });
  await api.send(items);
  const ids = items.map(traceIdOf);
  const list = async (query: string): Promise<Page> => await api.get(`/dashboard/traces?${query}`);
  const of = (key: string): string => `attribute.${encodeURIComponent(key)}`;
  const series =
    '/dashboard/traces/search-series?start_time=2026-01-15T00:00:00Z&end_time=2026-01-16T00:00:00Z';
  for (const [i, key] of keys.entries()) {
    const query = `${of(key)}=value%20${i}`;
    const page = await list(query);
    t.strictSame(idsOf(page), [ids[i]], key);
    t.match(page, { count: null, next_cursor: null, searched_back_to: null });
    t.equal((await list(`${of(key)}!=value%20${i}`)).items.length, keys.length - 1, key);
    t.strictSame(idsOf(await list(`${of(key)}~=VALUE&query=find`)), [ids[i]], key);
    t.match(await api.get(`${series}&${query}`), { runs: 1, buckets: [{ runs: 1 }], searched_back_to: null });
    t.match(await api.get(`/dashboard/traces/values?field=${of(key)}&query=VAL`), {
      items: [{ value: `value ${i}`, runs: 1 }],
    });
  }
  const { items: known } = await api.get<{ items: { value: string }[] }>(
    '/dashboard/traces/values?field=attribute',
  );
  t.strictSame(known.map(({ value }) => value).toSorted(), keys.toSorted());
  const first = await list('attribute.none!=x&page_size=3');
  const cursor = encodeURIComponent(first.next_cursor ?? '');
  const second = await list(`attribute.none!=x&page_size=100&cursor=${cursor}`);
  t.strictSame([...idsOf(first), ...idsOf(second)], ids.toReversed());
  const exported = await fetch(`${api.url}/api/v1/dashboard/traces?attribute.plan!=x&${of('a.b/c')}~=`, {
    headers: { authorization: `Bearer ${api.adminKey}`, accept: 'text/csv' },
  });
  const [, line = '', end] = (await exported.text()).split('\r\n');
  t.ok(line.startsWith(ids[1] ?? '-'));
  t.equal(end, '');
  const many = Array.from({ length: 11 }, (_, i) => `attribute.k${i}=1`).join('&');
  for (const wrong of [
    many,
    `${of('x'.repeat(1025))}=1`,
    `attribute.k=${'x'.repeat(1025)}`,
    'attribute.k=1&attribute.k=2',
  ])
    t.equal((await api.call('GET', `/dashboard/traces?${wrong}`)).status, 422, wrong.slice(0, 30));
});
