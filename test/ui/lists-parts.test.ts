import t from 'tap';
import { unpricedFirst } from '../../src/ui/pages/models/model-figures.js';
import { figuresByAgent, worseAgents } from '../../src/ui/pages/overview/worse.js';
import { filterQuery, isFiltered, isUncounted, STATE } from '../../src/ui/pages/runs/runs-state.js';
import { tellingSpans } from '../../src/ui/pages/sessions/turn.js';
import { parseState } from '../../src/ui/state/codec.js';

const bucket = (runs: number, failed: number, cost: number | null) => ({ runs, failed, cost });

void t.test('agents got worse that fail more often or cost more a run, of enough runs', async (t) => {
  const of = (key: string, ...buckets: ReturnType<typeof bucket>[]) => ({ key, name: key, buckets });
  const others = { key: null, name: null, buckets: [bucket(9, 9, 9)] };
  const before = figuresByAgent([
    of('same', bucket(10, 1, 1)),
    of('fails', bucket(6, 0, 1), bucket(4, 0, null)),
    of('costs', bucket(10, 0, 1)),
    of('few', bucket(4, 0, 1)),
    others,
  ]);
  const now = figuresByAgent([
    of('same', bucket(20, 2, 2)),
    of('fails', bucket(10, 5, 1)),
    of('costs', bucket(10, 0, 2)),
    of('few', bucket(40, 40, 100)),
    of('new', bucket(40, 40, 100)),
  ]);
  const found = worseAgents(now, before);
  t.same(
    found.map(({ now: { id } }) => id),
    ['fails', 'costs'],
  );
  t.match(found[0], { failures: { now: 0.5, before: 0 }, cost: null, before: { runs: 10, cost: 1 } });
  t.match(found[1], { failures: null, cost: { now: 0.2, before: 0.1 } });
});

void t.test(
  'what was asked and answered is told by the root, or by the first and the last call',
  async (t) => {
    const span = (span_id: string, type: string, input: number | null, output: number | null) => ({
      span_id,
      parent_span_id: span_id === 'root' ? null : 'root',
      type,
      input_bytes: input,
      output_bytes: output,
    });
    const calls = [span('a', 'llm', 1, null), span('tool', 'tool', 1, 1), span('b', 'llm', 1, 1)];
    t.same(tellingSpans([span('root', 'agent', 1, 1), ...calls]), { asked: 'root', answered: 'root' });
    t.same(tellingSpans([span('root', 'agent', null, null), ...calls]), { asked: 'a', answered: 'b' });
    t.same(tellingSpans([span('root', 'agent', 1, null), ...calls]), { asked: 'root', answered: 'b' });
    t.same(tellingSpans([]), { asked: undefined, answered: undefined });
  },
);

void t.test('the filters of a list are those that its URL says', async (t) => {
  const of = (query: string) => parseState(STATE, query);
  t.equal(isFiltered(of('sort=duration&page=3&hide=')), false, 'they do not say which runs');
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
  t.notOk('prompt_version' in filterQuery(of('pv=2'), 0), 'a version of no prompt');
  t.notOk('min_duration_ms' in filterQuery(of('mind=-1'), 0));
});

void t.test('models of whose calls most have no cost come first', async (t) => {
  const model = (name: string, calls: number, priced_calls: number) => ({
    model: name,
    calls,
    priced_calls,
    total_cost: null,
  });
  const models = [model('a', 5, 5), model('b', 9, 8), model('c', 9, 0)];
  t.same(
    unpricedFirst(models).map(({ model: name }) => name),
    ['c', 'b', 'a'],
  );
});
