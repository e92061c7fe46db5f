import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startApi, type TestApi } from '../../support/api.js';
import { headerText, traceIdOf } from '../../support/header-text.js';
import { anItem, aSpan, type Item } from '../../support/trace-batch.js';

interface Page {
  readonly items: readonly { readonly trace_id: string }[];
  readonly count: number | null;
  readonly page: number;
  readonly page_size: number;
  readonly has_more: boolean;
}

/** Runs of two agents, one per minute, newest last. */
const RUNS: readonly Item[] = Array.from({ length: 45 }, (_, minute) =>
  anItem({
    trace: {
      agent: minute % 9 === 0 ? 'rare' : 'usual',
      started_at: `2026-11-03T08:${String(minute).padStart(2, '0')}:00Z`,
      ended_at: undefined,
      status: minute % 5 === 0 ? 'failed' : 'completed',
      success: minute % 3 === 0 ? undefined : minute % 3 === 1,
      outcome: minute === 7 ? 'Escalated to 100%_human' : undefined,
      error_message: minute % 5 === 0 ? 'Upstream timed out' : undefined,
      duration_ms: 12.5,
      total_tokens: 240,
      total_cost_usd: '0.002500',
    },
    spans: minute === 0 ? 2 : 0,
  }),
);

async function startWithRuns(t: Parameters<typeof startApi>[0]) {
  const api = await startApi(t);
  await api.send(RUNS);
  const agents = await api.get<{ id: string; name: string }[]>('/agents');
  return { api, idOf: (name: string) => agents.find((agent) => agent.name === name)?.id ?? '' };
}

function idsOf(runs: readonly Item[]): unknown[] {
  return [...runs].reverse().map(({ trace }) => trace['trace_id']);
}

async function allPages(api: TestApi, path: string, size: number): Promise<readonly Page[]> {
  const pages: Page[] = [];
  const join = path.includes('?') ? '&' : '?';
  do pages.push(await api.get<Page>(`${path}${join}page=${pages.length + 1}&page_size=${size}`));
  while (pages.at(-1)?.has_more === true);
  return pages;
}

void t.test('pages contain every run once, newest first, with has_more', async (t) => {
  const { api, idOf } = await startWithRuns(t);
  const usual = RUNS.filter(({ trace }) => trace['agent'] === 'usual');
  for (const [path, runs] of [
    ['/dashboard/traces', RUNS],
    [`/agents/${idOf('usual')}/runs`, usual],
  ] as const)
    for (const size of [1, 7, 20, 45, 100]) {
      const pages = await allPages(api, path, size);
      t.equal(pages.length, Math.ceil(runs.length / size));
      t.strictSame(
        pages.flatMap(({ items }) => items.map((run) => run.trace_id)),
        idsOf(runs),
      );
      for (const [index, page] of pages.entries())
        t.match(page, { count: runs.length, page: index + 1, page_size: size });
    }
});

void t.test('a listed run is a trace without spans and metadata, with a span count', async (t) => {
  const { api, idOf } = await startWithRuns(t);
  const page = await api.get<Page>('/dashboard/traces?page=45&page_size=1');
  t.strictSame(page.items, [
    {
      trace_id: RUNS[0]?.trace['trace_id'],
      agent_name: 'rare',
      kind: 'agent',
      session_id: null,
      user_id: null,
      tags: [],
      environment: 'test',
      release: null,
      agent_version: null,
      repository: null,
      status: 'failed',
      started_at: '2026-11-03T08:00:00Z',
      ended_at: null,
      duration_ms: 12.5,
      success: null,
      outcome: null,
      error_message: 'Upstream timed out',
      total_tokens: 240,
      total_cost_usd: 0.0025,
      sample_rate: null,
      span_count: 2,
      agent_id: idOf('rare'),
    },
  ]);
});

void t.test('clamps page and page_size and rejects non-numbers', async (t) => {
  const { api, idOf } = await startWithRuns(t);
  for (const path of ['/dashboard/traces', `/agents/${idOf('usual')}/runs`]) {
    const cases: readonly (readonly [string, number, number])[] = [
      ['', 1, 20],
      ['?page=0&page_size=0', 1, 1],
      ['?page=-3&page_size=-1', 1, 1],
      ['?page_size=101', 1, 100],
      ['?page_size=1e9', 1, 100],
      ['?page=2.9&page_size=10.5', 2, 10],
      ['?unknown=1', 1, 20],
    ];
    for (const [query, page, page_size] of cases)
      t.match(await api.get(path + query), { page, page_size }, query);
    const beyond = await api.get<Page>(`${path}?page=9007199254740993&page_size=100`);
    t.match(beyond, { items: [], has_more: false });
    t.ok((beyond.count ?? 0) > 0, 'the total is returned beyond the last page, too');

    for (const text of ['x', '', 'NaN', 'Infinity', '-Infinity', '0x10', '1,5', ' ', '1 2', 'null', '１'])
      for (const name of ['page', 'page_size']) {
        const answer = await api.call('GET', `${path}?${name}=${encodeURIComponent(text)}`);
        t.equal(answer.status, 422, `${name}=${text}`);
        t.match(answer.body, {
          code: 'validation_failed',
          errors: [{ field: name, message: 'must be a number' }],
        });
      }
  }
});

void t.test('filters restrict list and count, alone and combined', async (t) => {
  const { api, idOf } = await startWithRuns(t);
  const minuteOf = (run: Item) => Number(headerText(run, 'started_at').slice(14, 16));
  const cases: readonly (readonly [string, (run: Item) => boolean])[] = [
    ['status=failed', ({ trace }) => trace['status'] === 'failed'],
    ['status=running', () => false],
    ['success=true', ({ trace }) => trace['success'] === true],
    ['success=false', ({ trace }) => trace['success'] === false],
    ['start_time=2026-11-03T08:30:00Z', (run) => minuteOf(run) >= 30],
    ['end_time=2026-11-03T08:30:00Z', (run) => minuteOf(run) <= 30],
    ['start_time=2026-11-03T10:30:00%2B02:00', (run) => minuteOf(run) >= 30],
    ['start_time=2026-11-03T10:30:00+02:00', (run) => minuteOf(run) >= 30],
    ['start_time=2026-11-03T10:30+02', (run) => minuteOf(run) >= 30],
    ['start_time=2026-11-03 08:30', (run) => minuteOf(run) >= 30],
    ['start_time=2026-11-03 10:30:00+0200', (run) => minuteOf(run) >= 30],
    ['start_time=2026-11-03T08:29:59.999999Z', (run) => minuteOf(run) >= 30],
    [
      'start_time=2026-11-03T08:10:00Z&end_time=2026-11-03T08:20:00Z',
      (run) => minuteOf(run) >= 10 && minuteOf(run) <= 20,
    ],
    ['start_time=2026-11-03T08:20:00Z&end_time=2026-11-03T08:10:00Z', () => false],
    [
      'status=failed&success=true&start_time=2026-11-03T08:09:00Z',
      (run) => run.trace['status'] === 'failed' && run.trace['success'] === true && minuteOf(run) >= 9,
    ],
  ];
  const usual = ({ trace }: Item) => trace['agent'] === 'usual';
  for (const [query, wanted] of cases) {
    const all = await api.get<Page>(`/dashboard/traces?page_size=100&${query}`);
    t.strictSame(
      all.items.map((run) => run.trace_id),
      idsOf(RUNS.filter(wanted)),
      query,
    );
    t.equal(all.count, RUNS.filter(wanted).length);
    const ofAgent = await api.get<Page>(`/agents/${idOf('usual')}/runs?page_size=100&${query}`);
    t.strictSame(
      ofAgent.items.map((run) => run.trace_id),
      idsOf(RUNS.filter((run) => usual(run) && wanted(run))),
      query,
    );
  }
});

void t.test('filters all runs by agent and words', async (t) => {
  const { api, idOf } = await startWithRuns(t);
  const page = (query: string) => api.get<Page>(`/dashboard/traces?page_size=100&${query}`);
  const count = async (query: string) => (await page(query)).count;
  t.equal(await count(`agent_id=${idOf('rare')}`), 5);
  t.equal(await count(`agent_id=${idOf('rare').toUpperCase()}`), 5);
  t.equal(await count(`agent_id=${randomUUID()}`), 0, 'no match instead of 404');
  t.equal(await count('query='), 45);
  t.equal(await count('query=RARE'), null, 'found runs are not counted');
  const found = async (query: string) => (await page(query)).items.length;
  t.equal(await found('query=RARE'), 5);
  t.equal(await found('query=timed'), 9);
  t.equal(await found('query=escalated'), 1);
  t.equal(await found(`query=${encodeURIComponent('100%_human')}`), 1);
  t.equal(await found(`query=${encodeURIComponent('1%_h')}`), 0, 'no wildcards');
  t.equal(await found(`query=${encodeURIComponent("' OR 1=1 --")}`), 0);
  t.equal(await found('query=rare&status=failed'), 1);
});

void t.test('invalid filters are 422 and named', async (t) => {
  const { api, idOf } = await startWithRuns(t);
  const cases: readonly (readonly [string, string])[] = [
    ['status=done', 'status'],
    ['status=', 'status'],
    ['success=yes', 'success'],
    ['success=1', 'success'],
    ['success=', 'success'],
    ['start_time=2026-11-03', 'start_time'],
    ['start_time=yesterday', 'start_time'],
    ['end_time=1762156800', 'end_time'],
    ['end_time=2026-02-30T00:00:00Z', 'end_time'],
  ];
  for (const [query, field] of cases)
    for (const path of ['/dashboard/traces', `/agents/${idOf('rare')}/runs`]) {
      const answer = await api.call('GET', `${path}?${query}`);
      t.equal(answer.status, 422, query);
      t.match(answer.body, { code: 'validation_failed', errors: [{ field }] });
    }
  for (const query of ['agent_id=x', `query=${'x'.repeat(1025)}`])
    t.equal((await api.call('GET', `/dashboard/traces?${query}`)).status, 422);
  const several = await api.call('GET', '/dashboard/traces?page=x&status=done&agent_id=y');
  const { errors } = several.body as { errors: { field: string }[] };
  t.strictSame(errors.map(({ field }) => field).sort(), ['agent_id', 'page', 'status'], 'all at once');
});

void t.test('runs of an unknown agent are 404 on any page', async (t) => {
  const { api } = await startWithRuns(t);
  for (const query of ['', '?page=5', '?status=failed'])
    t.equal((await api.call('GET', `/agents/${randomUUID()}/runs${query}`)).status, 404);
});

void t.test('every list and series is filtered by environment, release and agent version', async (t) => {
  const api = await startApi(t);
  const started_at = '2026-11-03T08:00:00Z';
  const item = (release: string, environment: string) => {
    const trace = { agent: release, release, environment, agent_version: '7', started_at };
    const metadata = { session_id: release, user_id: release };
    const made = anItem({ trace: { ...trace, ended_at: undefined, metadata }, spans: 0 });
    return { ...made, spans: [aSpan(traceIdOf(made), { model: release })] };
  };
  await api.send([item('1.0', 'production'), item('1.1', 'production'), item('1.1', 'staging')]);
  const times = 'start_time=2026-11-03T00:00:00Z&end_time=2026-11-04T00:00:00Z';
  const namesAt = async (path: string, field: string): Promise<unknown[]> => {
    const { items } = await api.get<{ items: readonly Record<string, unknown>[] }>(path);
    return items.map((one) => one[field]);
  };
  const filter = 'environment=production&release=1.1&agent_version=7';
  t.strictSame(await namesAt(`/dashboard/traces?${filter}`, 'agent_name'), ['1.1']);
  t.strictSame(await namesAt(`/dashboard/traces?${filter}&count=none`, 'agent_name'), ['1.1']);
  t.strictSame(await namesAt(`/agents?${filter}`, 'name'), ['1.1']);
  t.strictSame(await namesAt(`/dashboard/models?${filter}`, 'model'), ['1.1']);
  t.strictSame(await namesAt(`/dashboard/sessions?${filter}`, 'session_id'), ['1.1']);
  t.strictSame(await namesAt(`/dashboard/users?${filter}`, 'user_id'), ['1.1']);
  t.match(await api.get(`/agents?${filter}`), { items: [{ total_runs: 1 }], count: 1 });
  t.match(await api.get(`/dashboard/series?${times}&${filter}`), { total: { runs: 1 } });
  t.match(await api.get(`/dashboard/series?${times}&release=1.1`), { total: { runs: 2 } });
  const [agent] = await api.get<{ id: string }[]>('/agents');
  t.match(await api.get(`/agents/${agent?.id}/runs?release=2`), { items: [], count: 0 });
});
