import t from 'tap';
import { startApi } from '../support/api.js';
import { traceIdOf } from '../support/header-text.js';
import { anItem } from '../support/trace-batch.js';

void t.test('two users with the same ids and names are isolated', async (t) => {
  const api = await startApi(t);
  const anna = await api.createUser('anna@example.com', ['read', 'write']);
  const ben = await api.createUser('ben@example.com', ['read', 'write']);
  const annas = anItem({ trace: { outcome: 'of anna', total_cost_usd: '1' }, spans: 2 });
  const bens = {
    trace: { ...annas.trace, outcome: 'of ben', total_cost_usd: '2' },
    spans: annas.spans.map((span) => ({ ...span, name: 'of ben' })),
  };
  await api.send([annas], anna.key);
  await api.send([bens], ben.key);
  await api.send([anItem({ trace: { agent: 'only of ben' } })], ben.key);

  const path = `/dashboard/traces/${traceIdOf(annas)}`;
  t.match(await api.get(path, anna.key), {
    outcome: 'of anna',
    spans: [{ name: 'answer' }, { name: 'answer' }],
  });
  t.match(await api.get(path, ben.key), {
    outcome: 'of ben',
    spans: [{ name: 'of ben' }, { name: 'of ben' }],
  });
  t.equal((await api.call('GET', path)).status, 404, 'an administrator sees only its own data, too');

  const agentsOf = (key: string) => api.get<{ id: string; name: string }[]>('/agents', key);
  const [annasAgents, bensAgents] = [await agentsOf(anna.key), await agentsOf(ben.key)];
  t.match(annasAgents, [{ name: 'researcher', total_runs: 1, total_cost: 1 }]);
  t.equal(annasAgents.length, 1);
  t.strictSame(bensAgents.map(({ name }) => name).sort(), ['only of ben', 'researcher']);
  const annasAgent = annasAgents[0]?.id ?? '';
  t.notOk(
    bensAgents.some(({ id }) => id === annasAgent),
    'an agent of the same name is another agent',
  );

  for (const suffix of ['', '/stats', '/runs'])
    t.equal((await api.call('GET', `/agents/${annasAgent}${suffix}`, { key: ben.key })).status, 404);
  const both = `/dashboard/traces/compare-agents?agent_a=${annasAgent}&agent_b=${bensAgents[0]?.id ?? ''}`;
  t.equal((await api.call('GET', both, { key: ben.key })).status, 404);
  t.equal((await api.call('GET', both, { key: anna.key })).status, 404);

  const lists = async (key: string) => ({
    all: (await api.get<{ count: number }>('/dashboard/traces', key)).count,
    foreign: (await api.get<{ count: number }>(`/dashboard/traces?agent_id=${annasAgent}`, key)).count,
    text: (await api.get<{ items: unknown[] }>('/dashboard/traces?query=anna*', key)).items.length,
  });
  t.strictSame(await lists(anna.key), { all: 1, foreign: 1, text: 1 });
  t.strictSame(await lists(ben.key), { all: 2, foreign: 0, text: 0 });
});

void t.test("setting an outcome changes only one's own trace", async (t) => {
  const api = await startApi(t);
  const anna = await api.createUser('anna@example.com', ['read', 'write']);
  const ben = await api.createUser('ben@example.com', ['read', 'write']);
  const item = anItem({ trace: { success: undefined } });
  const foreign = anItem({ trace: { success: undefined } });
  await api.send([item, foreign], anna.key);
  await api.send([item], ben.key);

  const path = `/dashboard/traces/${traceIdOf(item)}`;
  const json = { success: false, outcome: 'judged' };
  t.equal((await api.call('PATCH', `${path}/outcome`, { key: ben.key, json })).status, 200);
  t.match(await api.get(path, ben.key), json);
  t.match(await api.get(path, anna.key), { success: null, outcome: null });
  const foreignPath = `/dashboard/traces/${traceIdOf(foreign)}`;
  t.equal((await api.call('PATCH', `${foreignPath}/outcome`, { key: ben.key, json })).status, 404);
  t.match(await api.get(foreignPath, anna.key), { success: null, outcome: null });
});
