import t from 'tap';
import { startApi } from '../../support/api.js';
import { anItem } from '../../support/trace-batch.js';

const PATH = '/dashboard/service-map/';

interface Shown {
  readonly nodes: readonly { readonly id: string }[];
  readonly edges: readonly { readonly target: string; readonly weight: number }[];
}

void t.test('the map of a period, its calls and its available hours', async (t) => {
  const api = await startApi(t);
  /** A run of `researcher` that calls a service for 2 s. */
  const calls = (started_at: string, service: string, status: string) => {
    const item = anItem({ trace: { started_at, ended_at: undefined }, spans: 1 });
    const ended_at = new Date(Date.parse(started_at) + 2000).toISOString();
    const metadata = { 'peer.service': service };
    return {
      ...item,
      spans: item.spans.map((span) => ({
        ...span,
        ...{ type: 'http', name: 'call', status, started_at, ended_at, metadata },
        duration_ms: 2000,
      })),
    };
  };
  const hour = 3_600_000;
  const full = Math.floor(Date.now() / hour) * hour;
  const at = (ms: number): string => new Date(ms).toISOString();
  await api.send([
    calls(at(full - 2 * hour), 'billing', 'failed'),
    calls(at(full - 2 * hour + 1000), 'billing', 'completed'),
    calls(at(full - hour), 'search', 'completed'),
    calls(at(full - 300 * hour), 'archive', 'completed'),
  ]);
  const map = (query: string) => api.get<Shown>(`${PATH}?${query}`);
  t.match(await map('hours=24'), {
    nodes: [
      { id: 'billing', node_type: 'service', span_count: 2, error_count: 1, p95_ms: 1998.596 },
      { id: 'researcher', node_type: 'agent', span_count: 0, error_count: 0, p95_ms: null },
      { id: 'search', span_count: 1, error_count: 0, p95_ms: 1998.596 },
    ],
    edges: [
      { source: 'researcher', target: 'billing', weight: 2, error_count: 1, p95_ms: 1998.596 },
      { source: 'researcher', target: 'search', weight: 1, error_count: 0, p95_ms: 1998.596 },
    ],
  });
  const targets = async (query: string): Promise<string[]> =>
    (await map(query)).edges.map(({ target }) => target);
  const times = (from: number, to: number): string => `start_time=${at(from)}&end_time=${at(to)}`;
  t.same(await targets(times(full - 2 * hour, full - hour)), ['billing'], 'the end is exclusive');
  t.same(await targets(times(full - hour - 1, full - hour + 1)), ['billing', 'search'], 'whole hours');
  t.same(await targets(`start_time=${at(full - hour)}`), ['search']);
  t.same(
    await targets(`end_time=${at(full - hour)}&hours=1`),
    ['archive', 'billing'],
    'hours is ignored with end_time',
  );
  t.same(await targets(times(full - 9 * hour, full - 8 * hour)), []);
  t.same(await api.get(`${PATH}hours`), [
    { hour: at(full - 2 * hour).replace('.000', ''), spans: 2, errors: 1 },
    { hour: at(full - hour).replace('.000', ''), spans: 1, errors: 0 },
  ]);
  t.match(await api.get(`${PATH}hours?hours=400`), [{ spans: 1 }, { spans: 2 }, { spans: 1 }]);
  for (const query of [`?${times(full, full)}`, '?start_time=yesterday', 'hours?hours=many'])
    t.equal((await api.call('GET', `${PATH}${query}`)).status, 422, query);
});

void t.test('each user has separate hours', async (t) => {
  const api = await startApi(t);
  await api.send([anItem({ spans: 1 })]);
  const reader = await api.createUser('reader@example.com', ['read']);
  t.same(await api.get(`${PATH}hours?hours=8784`, reader.key), []);
  const writer = await api.createUser('writer@example.com', ['write']);
  t.equal((await api.call('GET', `${PATH}hours`, { key: writer.key })).status, 403);
});
