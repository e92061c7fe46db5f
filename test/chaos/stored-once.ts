import type { Test } from 'tap';
import type { ApiCaller } from '../support/api-caller.js';
import { metricOf, POINTS_OF_A_METRIC, type ChaosLoad } from '../support/chaos-load.js';

const PAGE = 1000;

/** Checks through the API that every item of a load is stored once. @param items of each signal */
export async function checkStoredOnce(
  t: Test,
  api: Pick<ApiCaller, 'get'>,
  load: ChaosLoad,
  items: number,
): Promise<void> {
  const bodies: string[] = [];
  let count = 0;
  for (let offset = 0; offset === 0 || offset < count; offset += PAGE) {
    type Page = { readonly count: number; readonly items: readonly { readonly body: string }[] };
    const page = await api.get<Page>(`/dashboard/logs/search?limit=${PAGE}&offset=${offset}`);
    count = page.count;
    bodies.push(...page.items.map(({ body }) => body));
  }
  t.equal(bodies.length, items, 'every record is stored');
  t.equal(new Set(bodies).size, items, 'each record once');

  const values: number[] = [];
  for (let first = 0; first < items; first += POINTS_OF_A_METRIC) {
    type Points = { readonly data_points: readonly { readonly value: number }[] };
    const query = `/dashboard/metrics/query?name=${metricOf(first)}&limit=${POINTS_OF_A_METRIC}`;
    values.push(...(await api.get<Points>(query)).data_points.map(({ value }) => value));
  }
  t.equal(values.length, items, 'every point once');
  t.equal(new Set(values).size, items);
  type Metrics = readonly { readonly data_point_count: number }[];
  const listed = await api.get<Metrics | { readonly items: Metrics }>('/dashboard/metrics/?limit=1000');
  const counts = 'items' in listed ? listed.items : listed;
  t.equal(
    counts.reduce((sum, one) => sum + one.data_point_count, 0),
    items,
  );

  let spans = 0;
  for (const id of load.traces) {
    const uuid = id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    const trace = await api.get<{ readonly spans: readonly unknown[] }>(`/dashboard/traces/${uuid}`);
    spans += trace.spans.length;
  }
  t.equal(spans, items, 'every span once');
}
