import t from 'tap';
import { changesSince, steady } from '../../src/ui/live/steady.js';
import { topicOf, Subscriptions } from '../../src/ui/live/subscriptions.js';
import { isOnPage, matchesRun } from '../../src/ui/pages/runs/run-matches.js';
import { unpricedReason } from '../../src/ui/pages/models/model-figures.js';
import {
  candidates,
  formatDifference,
  missingReason,
  MAX_SWAPS,
  remarks,
  swapsField,
  together,
  type WhatIfAnswer,
} from '../../src/ui/pages/models/what-if.js';
import {
  filterQuery,
  isAllListed,
  isFiltered,
  isUncounted,
  notInSeries,
  searchFilter,
  seriesFilter,
  STATE,
} from '../../src/ui/pages/runs/runs-state.js';
import { conversationSpans } from '../../src/ui/messages/turn.js';
import { meets, parseKeyed, printKeyed } from '../../src/ui/list/filters.js';
import { MAX_ROWS, writeFile } from '../../src/ui/list/export-file.js';
import { movedColumn, placedColumns, printColumns, resizedColumns } from '../../src/ui/parts/columns.js';
import { parseState } from '../../src/ui/state/codec.js';

void t.test('question and answer come from the root, or from the first and last call', async (t) => {
  const span = (span_id: string, type: string, input: number | null, output: number | null) => ({
    span_id,
    parent_span_id: span_id === 'root' ? null : 'root',
    type,
    input_bytes: input,
    output_bytes: output,
  });
  const calls = [span('a', 'llm', 1, null), span('tool', 'tool', 1, 1), span('b', 'llm', 1, 1)];
  t.same(conversationSpans([span('root', 'agent', 1, 1), ...calls]), { asked: 'root', answered: 'root' });
  t.same(conversationSpans([span('root', 'agent', null, null), ...calls]), { asked: 'a', answered: 'b' });
  t.same(conversationSpans([span('root', 'agent', 1, null), ...calls]), { asked: 'root', answered: 'b' });
  t.same(conversationSpans([]), { asked: undefined, answered: undefined });
});

void t.test('list filters come from the URL', async (t) => {
  const of = (query: string) => parseState(STATE, query);
  t.equal(isFiltered(of('sort=duration&page=3&cols=agent')), false, 'these do not filter runs');
  t.equal(isFiltered(of('minc=0.5')), true);
  t.equal(isUncounted(of('model=gpt')), true);
  t.equal(isUncounted(of('minc=0.5')), false);
  t.match(filterQuery(of('sort=-cost&prompt=p&pv=2&mind=5&range=1h'), 3_600_000), {
    sort: 'total_cost_usd',
    order: 'desc',
    prompt_name: 'p',
    prompt_version: 2,
    min_duration_ms: 5,
    start_time: '1970-01-01T00:00:00.000Z',
  });
  t.match(filterQuery(of('env=production&release=1.4&version=a&repo=a'), 0), {
    environment: 'production',
    release: '1.4',
    agent_version: 'a',
    repository: 'a',
  });
  t.match(filterQuery(of('env=!%3Dprod&release=~%3D1.&meta=plan~%3Dpro,tier%3D1'), 0), {
    'environment!': 'prod',
    'release~': '1.',
    'metadata.plan~': 'pro',
    'metadata.tier': '1',
  });
  t.same(seriesFilter(of('q=words&model=gpt&user=ada&env=prod&status=failed')), {
    status: 'failed',
    user_id: 'ada',
    environment: 'prod',
  });
  t.same(notInSeries(of('model=gpt&node=a&user=ada')), ['model', 'map node']);
  t.same(notInSeries(of('q=words&model=gpt')), [], 'a search has its own series');
  t.same(searchFilter(of('q=words&range=7d&model=gpt&user=ada&kind=all')), {
    kind: 'all',
    user_id: 'ada',
    model: 'gpt',
  });
  const found = { runs: 2, searched_back_to: null };
  t.equal(isAllListed(of('q=words'), 2, found), true);
  t.equal(isAllListed(of('q=words'), 1, found), false);
  t.equal(isAllListed(of('q=words&after=x'), 2, found), false, 'earlier pages have other runs');
  t.equal(isAllListed(of('q=words'), 2, { ...found, searched_back_to: '2026-11-24T00:00:00.000Z' }), false);
  t.equal(isAllListed(of('q=words'), 2, undefined), false);
  t.notOk('prompt_version' in filterQuery(of('pv=2'), 0), 'a version without a prompt');
  t.notOk('min_duration_ms' in filterQuery(of('mind=-1'), 0));
});

void t.test('conditions on metadata are in the link, for any key and value', async (t) => {
  const conditions = [
    { key: 'plan', operator: '~=' as const, value: 'a=b,c!' },
    { key: 'größe, "x"', operator: '!=' as const, value: '100 %' },
  ];
  t.same(parseKeyed(printKeyed(conditions)), conditions);
  t.same(parseKeyed(''), []);
  for (const wrong of ['plan', '=x', 'plan=', 'a=1,', '%zz=1', Array(11).fill('a=1').join(',')])
    t.equal(parseKeyed(wrong), undefined, wrong);
  t.ok(meets('!=prod', null) && meets('~=RO', 'prod') && meets('', null) && meets('prod', 'prod'));
  t.notOk(meets('!=prod', 'prod') || meets('~=x', 'prod') || meets('~=x', null) || meets('prod', null));
});

void t.test('columns of a list are selected, moved and resized in the link', async (t) => {
  const columns = [{ name: 'a' }, { name: 'b' }, { name: 'c', isExtra: true }, { name: 'd' }];
  const names = (text: string) => placedColumns(columns, text).map(({ name }) => name);
  t.same(names(''), ['a', 'b', 'd']);
  t.same(names('d,c,unknown,d'), ['a', 'd', 'c'], 'the first column stays');
  t.equal(printColumns(columns, placedColumns(columns, 'a,b,d')), '', 'the default');
  t.equal(resizedColumns(columns, '', 'b', 120), 'a,b:120,d');
  t.same(placedColumns(columns, 'a,b:120,d:5')[1], { name: 'b', width: 120 });
  t.notOk('width' in (placedColumns(columns, 'a,d:5')[1] ?? {}), 'too narrow');
  const placed = placedColumns(columns, 'a,b,c,d');
  t.equal(printColumns(columns, movedColumn(placed, 'd', -1)), 'a,b,d,c');
  t.equal(movedColumn(placed, 'b', -1), placed, 'nothing moves before the first');
});

void t.test('exports rows as NDJSON and as CSV without formulas', async (t) => {
  const rows = [
    { name: '=SUM(A1)', cost: -0.5 },
    { name: 'a "b", c', cost: null, tags: ['x', 'y'] },
  ];
  const pages = [rows, [{ name: 'next page', cost: 1, tags: [] }]];
  const counts: number[] = [];
  const lines = await (await writeFile('ndjson', pages, (count) => counts.push(count))).text();
  t.equal(lines.trim().split('\n').length, 3);
  t.same(counts, [2, 3]);
  t.same((await (await writeFile('csv', pages)).text()).split('\r\n'), [
    'name,cost,tags',
    `'=SUM(A1),-0.5,`,
    `"a ""b"", c",,"[""x"",""y""]"`,
    'next page,1,[]',
    '',
  ]);
  const many = Array<object>(300_000).fill({});
  function* endless(): Generator<readonly object[]> {
    for (;;) yield many;
  }
  let written = 0;
  await writeFile('ndjson', endless(), (count) => (written = count));
  t.equal(written, MAX_ROWS, 'a file is bounded');
});

void t.test('price swaps are in the link, for any model name', async (t) => {
  const swaps = [
    { model: 'openai/gpt-5:beta,1', as: '100 % "cheap"' },
    { model: '', as: 'gpt-5' },
  ];
  const printed = swapsField.print(swaps) ?? '';
  t.strictSame(swapsField.parse(printed), swaps);
  t.strictSame(swapsField.parse('a:b,a:c'), [{ model: 'a', as: 'c' }], 'one per model');
  const tooMany = Array.from({ length: MAX_SWAPS + 1 }, (_, i) => `m${String(i)}:x`).join(',');
  for (const wrong of ['', 'a', 'a:', 'a:b:c', '%zz:b', tooMany, `${'a'.repeat(2000)}:b`])
    t.equal(swapsField.parse(wrong), undefined, wrong.slice(0, 20));
  t.equal(swapsField.print([]), undefined);
});

void t.test('shows unknown parts of an estimate', async (t) => {
  const price = {
    ...{ input: 1, cached_read: 0.1, cached_write: 1, audio_input: 1, output: 4, audio_output: 4 },
    ...{ cached_write_5m: 1, cached_write_1h: 2, tiers: { flex: null, batch: 0.5, priority: null } },
    long: null,
  };
  const none = { input: 0, cached_read: 0, cached_write: 0, audio_input: 0, output: 0, audio_output: 0 };
  const repriced = {
    ...{ calls: 10, priced_calls: 7, total_cost: 7, repriced_calls: 8, repriced_cost: 4 },
    ...{ both_calls: 6, both_cost: 6, both_repriced_cost: 3, long_calls: 0 },
    left_out: { running: 0, no_tokens: 1, no_parts: 1, too_large: 0 },
    tokens: { ...none, input: 500, cached_read: 2000 },
  };
  const answer: WhatIfAnswer = {
    ...{ model: 'm', as: 'x', processor: 'cost', rule: 'p.yaml:1 x', price, providers: [], reason: null },
    repriced,
  };
  t.same(remarks(answer), [
    '2 calls of 10 excluded: 1 without tokens, 1 with only a token total.',
    '2 calls of 8 have no actual cost and are excluded from the difference.',
    '2,000 cached input tokens at the cache prices of x, assuming the same caching.',
  ]);
  const flat = { ...answer, price: { ...price, cached_read: 1 } };
  t.match(remarks(flat).at(-1), 'x has no cache prices');
  t.equal(missingReason(answer), undefined);
  const unknown: WhatIfAnswer = {
    ...answer,
    rule: null,
    price: null,
    reason: 'unknown_model',
    repriced: null,
  };
  t.match(missingReason(unknown), 'Not in the price list');
  t.same(remarks(unknown), []);
  const empty = { ...repriced, calls: 0, repriced_calls: 0, repriced_cost: null };
  t.match(missingReason({ ...answer, repriced: empty }), 'No calls of this model');
  t.same(together([answer, unknown, answer]), { calls: 12, now: 12, then: 6 });
  t.same(together([unknown]), { calls: 0, now: null, then: null });
  t.same(
    [formatDifference(2, 3), formatDifference(2, 1), formatDifference(0, 1), formatDifference(1, 1)],
    ['+50%', '−50%', '+$1.00', 'none'],
  );
  const row = { is_used: true, pipelines: ['traces'], rule: 'r', providers: [], price };
  const rows = [
    { ...row, model: 'a', processor: 'cost' },
    { ...row, model: 'b', processor: 'cost', price: null, rule: null },
    { ...row, model: 'c', processor: 'cost/other' },
  ];
  t.same(candidates(rows, 'cost'), ['a'], 'models priced by the processor');
});

void t.test('says why calls have no cost', async (t) => {
  for (const [without_tokens, without_price, reason] of [
    [2, 0, 'The calls report no tokens'],
    [0, 3, 'The model has no price'],
    [1, 3, '1 call without tokens, 3 calls without a price'],
    [0, 0, 'Unknown reason'],
  ] as const)
    t.equal(unpricedReason({ without_tokens, without_price }), reason);
});

void t.test('tabs share one stream, reopened only when a topic is missing', async (t) => {
  const subscriptions = new Subscriptions();
  const trace = 'trace:7B8C1C1E-0d5c-4a53-9a55-1d0a3a7a5a01';
  const name = trace.toLowerCase();
  t.equal(subscriptions.set('a', ['runs'], 0), true);
  t.equal(subscriptions.open(), 'runs');
  t.equal(subscriptions.set('b', ['runs'], 0), false, 'already subscribed');
  t.equal(subscriptions.set('b', ['runs', `${trace}@5`], 0), true);
  t.equal(subscriptions.open(), `runs,${name}@5`);
  subscriptions.reached(name, 9);
  t.equal(subscriptions.set('c', [`${trace}@9`], 0), false);
  t.equal(subscriptions.set('c', [`${trace}@7`], 0), true, 'it missed events');
  t.equal(subscriptions.open(), `runs,${name}@7`);
  t.equal(subscriptions.drop('b'), false, 'another tab has the trace open');
  subscriptions.seen('a', 80_000);
  t.equal(subscriptions.prune(100_000), true, 'the tab that had it crashed');
  t.equal(subscriptions.open(), 'runs');
  t.equal(subscriptions.set('b', [`${trace}@3`], 100_000), true);
  t.equal(subscriptions.open(), `runs,${name}@3`, 'events sent to closed tabs do not count');
  subscriptions.close();
  t.equal(subscriptions.set('a', ['runs'], 100_000), true, 'nothing open');
  t.equal(subscriptions.drop('a') && subscriptions.drop('b'), false);
  t.equal(subscriptions.open(), '');
  const many = Array.from({ length: 20 }, (_, i) => `trace:${String(i)}`);
  subscriptions.set('a', ['runs', ...many], 0);
  t.equal(subscriptions.open().split(',').length, 17, 'as many traces as the daemon allows');
  t.equal(topicOf('span', { trace_id: 'ABC' }), 'trace:abc');
  t.equal(topicOf('lost', { topic: 'runs' }), 'runs');
  t.equal(topicOf('bye', {}), undefined);
});

void t.test('a list keeps its position while being read, and shows the number of new items', async (t) => {
  const keyOf = ({ id }: { readonly id: string }) => id;
  const rows = (...ids: readonly string[]) => ids.map((id) => ({ id, at: Math.random() }));
  const first = steady(undefined, 'x', rows('a', 'b', 'c'), keyOf);
  const fresh = rows('new', 'b', 'a');
  const held = steady(first, 'x', fresh, keyOf);
  t.same(held.items.map(keyOf), ['a', 'b', 'c']);
  t.equal(held.items[0], fresh[2], 'current values');
  t.equal(held.items[2], first.items[2], 'last known values');
  t.same(changesSince(held, keyOf), { keys: ['new'], isMoved: true });
  t.equal(steady(held, 'x', fresh, keyOf), held);
  t.same(changesSince(steady(held, 'x', rows('a', 'c'), keyOf), keyOf), { keys: [], isMoved: false });
  t.same(steady(held, 'y', fresh, keyOf).items, fresh, 'another list');
  t.same(steady(steady(undefined, 'x', [], keyOf), 'x', fresh, keyOf).items, fresh, 'nothing was read');
});

void t.test('live runs are matched against the filters of the URL', async (t) => {
  const run = {
    trace_id: 'id',
    agent_id: 'abc',
    agent_name: 'Support',
    kind: 'agent' as const,
    status: 'failed' as const,
    success: false,
    outcome: 'refunded',
    error_message: null,
    started_at: '1970-01-01T01:00:00.000Z',
    ended_at: null,
    duration_ms: 50,
    total_cost_usd: null,
    total_tokens: 7,
    session_id: 's',
    user_id: null,
    tags: ['beta'],
    environment: 'production',
    release: '1.4',
    agent_version: null,
    repository: null,
    span_count: 1,
    sample_rate: null,
  };
  const HOUR = 3_600_000;
  for (const query of [
    '',
    'q=REFUND',
    'q=supp',
    'agent=ABC',
    'status=failed&success=false',
    'tag=beta&session=s',
    'env=production&release=1.4',
    'env=~%3DPROD&version=!%3D2',
    'mind=50&maxd=50',
    'range=1h',
    'kind=all',
  ])
    t.equal(matchesRun(parseState(STATE, query), run, 2 * HOUR), true, query);
  for (const query of [
    'q=other',
    'agent=x',
    'status=running',
    'success=true',
    'tag=b',
    'env=prod',
    'version=1',
    'mind=51',
    'minc=0',
    'user=u',
    'range=30m',
    'kind=other',
    'range=1970-01-01T00:00:00.000Z..1970-01-01T00:30:00.000Z',
  ])
    t.equal(matchesRun(parseState(STATE, query), run, 2 * HOUR), false, query);
  const later = { ...run, started_at: '1970-01-01T02:00:00.000Z', duration_ms: null };
  t.equal(isOnPage('-started_at', later, [run], 1), true);
  t.equal(isOnPage('-started_at', run, [later], 1), false);
  t.equal(isOnPage('-started_at', run, [later], 2), true, 'there is room');
  t.equal(isOnPage('started_at', run, [later], 1), true);
  t.equal(isOnPage('duration', later, [run], 1), false, 'unfinished runs sort last');
});
