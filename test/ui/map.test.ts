import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { ApiCaller } from '../support/api-caller.js';
import { accessibilityProblems } from '../support/browser.js';
import { anItem, aSpan, type Item } from '../support/trace-batch.js';
import { settled, startPages } from '../support/ui.js';

const HOUR = 3_600_000;

/** A run of an agent that calls services, some of which call databases. */
function aRun(start: number, agent: string, calls: readonly (readonly [string, boolean, number])[]): Item {
  const at = (ms: number): string => new Date(start + ms).toISOString();
  const { trace } = anItem({ trace: { agent, started_at: at(0), ended_at: at(5000) } });
  const id = trace['trace_id'] as string;
  const root = randomUUID();
  const shape = { model: undefined, cost_usd: undefined, input_data: undefined, duration_ms: undefined };
  const spans = calls.flatMap(([service, failed, ms]) => {
    const span_id = randomUUID();
    const times = { started_at: at(100), ended_at: at(100 + ms) };
    const status = failed ? 'failed' : 'completed';
    const call = { ...shape, ...times, type: 'http', name: 'call', metadata: { 'peer.service': service } };
    const below = { ...shape, ...times, type: 'db', metadata: { 'db.system': `${service}-db` } };
    return [
      aSpan(id, { ...call, span_id, parent_span_id: root, status }),
      aSpan(id, { ...below, parent_span_id: span_id, name: 'query' }),
    ];
  });
  const times = { started_at: at(0), ended_at: at(5000) };
  return { trace, spans: [aSpan(id, { ...shape, ...times, span_id: root, type: 'agent' }), ...spans] };
}

/** 30 runs in the hour before last; in the last hour billing fails, search is slow, mail is new and archive is missing. */
async function fill(api: ApiCaller): Promise<void> {
  const full = Math.floor(Date.now() / HOUR) * HOUR;
  const runs = Array.from({ length: 30 }, (_, i) => [
    aRun(full - 2 * HOUR + i * 1000, 'planner', [
      ['billing', false, 200],
      ['search', false, 300],
      ['archive', false, 50],
    ]),
    aRun(full - HOUR + i * 1000, 'planner', [
      ['billing', i % 2 === 0, 200],
      ['search', false, 900],
      ['mail', false, 40],
    ]),
  ]).flat();
  // A batch is limited to 100 spans.
  for (let i = 0; i < runs.length; i += 10) await api.send(runs.slice(i, i + 10));
}

void t.test('service map', async (t) => {
  const { api, permit } = await startPages(t);

  await t.test('explains an empty map', async (t) => {
    const { page, complaints } = await permit('/map');
    await page.getByRole('heading', { name: 'No calls in this period' }).waitFor();
    t.same(await accessibilityProblems(page), []);
    t.same(complaints, []);
  });

  await fill(api);

  await t.test('a node is selected by keyboard and leads to its runs', async (t) => {
    const { page, complaints } = await permit('/models');
    const workers: string[] = [];
    page.on('worker', (worker) => workers.push(worker.url()));
    await page.goto(new URL('/map?range=6h', page.url()).href);
    await settled(page);
    const graph = page.getByRole('region', { name: /Call graph/ });
    const billing = graph.getByRole('button', { name: /billing .* service/ });
    await billing.waitFor();
    t.match(await billing.textContent(), /25% failed/);
    t.equal(workers.length, 1, 'a worker computed the layout once');
    t.match(workers[0], /layout-worker/);
    await page.getByText('9 nodes and 8 edges').waitFor();
    await billing.focus();
    await page.keyboard.press('Enter');
    const panel = page.getByRole('complementary', { name: 'Node' });
    await panel.getByRole('heading', { name: 'billing', exact: true }).waitFor();
    t.match(await panel.textContent(), /planner60 calls · 25% failed/);
    // The same with a mouse.
    await graph.getByRole('button', { name: /planner .* agent/ }).click();
    await panel.getByRole('heading', { name: 'planner', exact: true }).waitFor();
    await billing.click();
    await panel.getByRole('heading', { name: 'billing', exact: true }).waitFor();
    await page.getByLabel('Around billing').selectOption('1');
    await page.getByText('3 nodes and 2 edges of 9 nodes').waitFor();
    t.match(new URL(page.url()).search, 'node=billing&hops=1');
    t.same(await accessibilityProblems(page), []);
    await panel.getByRole('link', { name: 'Runs with this node' }).click();
    await page.getByRole('button', { name: 'Map node: billing' }).waitFor();
    t.same(complaints, []);
  });

  await t.test('the slider selects an hour, and a search finds a node', async (t) => {
    const { page, complaints } = await permit('/map?range=6h&view=table', { colorScheme: 'dark' });
    await settled(page);
    const edges = page.getByRole('table', { name: 'Edges' });
    await edges.getByRole('row', { name: /archive planner 30/ }).waitFor();
    const slider = page.getByRole('slider', { name: 'Hour' });
    t.equal(await slider.getAttribute('aria-valuetext'), 'all hours');
    const last = Number(await slider.getAttribute('max'));
    await slider.fill(String(last - 1));
    await edges.getByRole('row', { name: /archive planner/ }).waitFor({ state: 'detached' });
    t.match(await edges.getByRole('row', { name: /^billing planner 30 50%/ }).count(), 1);
    await page.getByLabel('Search nodes').fill('mail-');
    await page.getByText('2 nodes and 1 edge of 7 nodes').waitFor();
    t.same(await accessibilityProblems(page), []);
    await page.getByRole('button', { name: 'All hours' }).click();
    t.notMatch(new URL(page.url()).search, 'at=');
    t.same(complaints, []);
  });

  await t.test('shows changes since the hour before', async (t) => {
    const at = new Date(Math.floor(Date.now() / HOUR) * HOUR - HOUR).toISOString();
    const { page, complaints } = await permit(`/map?range=6h&at=${at}&view=changes`);
    const table = page.getByRole('table', { name: 'Changes' });
    await table.getByRole('row', { name: /^More failures planner → billing 30 30 0% 50%/ }).waitFor();
    await table.getByRole('row', { name: /^Slower planner → search/ }).waitFor();
    await table.getByRole('row', { name: /^New planner → mail/ }).waitFor();
    await table.getByRole('row', { name: /^Gone planner → archive/ }).waitFor();
    t.same(await accessibilityProblems(page), []);
    await table.getByRole('link', { name: 'planner → billing' }).click();
    await page.getByRole('complementary', { name: 'Node' }).waitFor();
    await page.goto(page.url().replace(/\?.*/, '?range=all&view=changes'));
    await page.getByRole('heading', { name: 'No earlier period to compare with' }).waitFor();
    t.same(complaints, []);
  });
});
