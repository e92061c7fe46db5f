import fc from 'fast-check';
import t from 'tap';
import { hoursBefore, hoursOf, printHours } from '../../src/ui/graph/hours.js';
import { MAP_SHAPE, placesOf } from '../../src/ui/graph/layout.js';
import {
  around,
  busiest,
  changesOf,
  failedShare,
  matching,
  type Graph,
  type GraphEdge,
} from '../../src/ui/graph/map-model.js';
import { holds } from '../support/property.js';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-11-26T12:20:00Z');

/** Nodes named by the edges, each with its incoming span count. */
function graphOf(edges: readonly (Partial<GraphEdge> & Pick<GraphEdge, 'source' | 'target'>)[]): Graph {
  const whole = edges.map((edge) => ({ weight: 100, error_count: 0, p95_ms: 50, ...edge }));
  const ids = [...new Set(whole.flatMap(({ source, target }) => [source, target]))].sort();
  return {
    edges: whole,
    nodes: ids.map((id) => ({
      id,
      span_type: 'http',
      node_type: 'service',
      span_count: whole.reduce((sum, { target, weight }) => sum + (target === id ? weight : 0), 0),
      error_count: 0,
      p95_ms: 50,
    })),
  };
}

const idsOf = ({ nodes }: Graph): string[] => nodes.map(({ id }) => id);

void t.test('neighbourhoods ignore the direction of calls', async (t) => {
  const chain = graphOf([
    { source: 'a', target: 'b' },
    { source: 'b', target: 'c' },
    { source: 'd', target: 'c' },
    { source: 'x', target: 'y' },
  ]);
  t.same(idsOf(around(chain, 'b', 0)), ['b']);
  t.same(idsOf(around(chain, 'b', 1)), ['a', 'b', 'c']);
  t.same(idsOf(around(chain, 'b', 2)), ['a', 'b', 'c', 'd']);
  t.equal(around(chain, 'b', 1).edges.length, 2);
  t.same(idsOf(around(chain, 'nobody', 3)), []);
});

void t.test('a search finds names and their neighbours', async (t) => {
  const graph = graphOf([
    { source: 'agent', target: 'Billing' },
    { source: 'Billing', target: 'postgres' },
    { source: 'agent', target: 'search' },
  ]);
  t.same(idsOf(matching(graph, ' bill ')), ['Billing', 'agent', 'postgres']);
  t.same(idsOf(matching(graph, 'redis')), []);
  t.equal(matching(graph, ' '), graph);
});

void t.test('keeps the busiest nodes and the selected one', async (t) => {
  const graph = graphOf(
    Array.from({ length: 9 }, (_, i) => ({ source: 'agent', target: `s${String(i)}`, weight: i + 1 })),
  );
  t.same(idsOf(busiest(graph, 3)), ['agent', 's7', 's8']);
  t.same(idsOf(busiest(graph, 3, 's0')), ['agent', 's0', 's8']);
  t.equal(busiest(graph, 10), graph);
});

void t.test('changes list failing and slower nodes first, then new and removed ones', async (t) => {
  const before = graphOf([
    { source: 'a', target: 'fails', error_count: 1 },
    { source: 'a', target: 'slow', p95_ms: 100 },
    { source: 'a', target: 'noise', p95_ms: 100, error_count: 2 },
    { source: 'a', target: 'rare', weight: 5, p95_ms: 1 },
    { source: 'a', target: 'old' },
    { source: 'a', target: 'unknown', error_count: null, p95_ms: null },
  ]);
  const now = graphOf([
    { source: 'a', target: 'fails', error_count: 30 },
    { source: 'a', target: 'slow', p95_ms: 300 },
    { source: 'a', target: 'noise', p95_ms: 120, error_count: 4 },
    { source: 'a', target: 'rare', weight: 5, error_count: 5, p95_ms: 1000 },
    { source: 'a', target: 'fresh' },
    { source: 'a', target: 'unknown', error_count: 90, p95_ms: 9000 },
  ]);
  t.same(
    changesOf(now, before).map(({ kind, source, target }) => [kind, source, target]),
    [
      ['failing', 'a', 'fails'],
      ['slower', 'a', 'slow'],
      ['new', 'a', 'fresh'],
      ['new', null, 'fresh'],
      ['gone', 'a', 'old'],
      ['gone', null, 'old'],
    ],
  );
  t.same(changesOf(now, now), []);
  t.equal(failedShare(null, 5), null);
  t.equal(failedShare(1, 4), 0.25);
});

const edge = fc.record({
  source: fc.constantFrom('a', 'b', 'c', 'd'),
  target: fc.constantFrom('a', 'b', 'c', 'd'),
  weight: fc.nat({ max: 60 }),
  error_count: fc.option(fc.nat({ max: 20 })),
  p95_ms: fc.option(fc.nat({ max: 500 })),
});
const graph = fc
  .uniqueArray(edge, { selector: ({ source, target }) => `${source} ${target}`, maxLength: 12 })
  .map(graphOf);

void t.test('comparing in the other direction swaps new and removed', async (t) => {
  holds(
    t,
    fc.property(graph, graph, (a, b) => {
      const found = (x: Graph, y: Graph, kind: string): string[] =>
        changesOf(x, y)
          .flatMap((change) => (change.kind === kind ? [`${String(change.source)} ${change.target}`] : []))
          .sort();
      return found(a, b, 'new').join() === found(b, a, 'gone').join() && changesOf(a, a).length === 0;
    }),
  );
});

void t.test('the layout does not depend on the input order', async (t) => {
  holds(
    t,
    fc.property(graph, (one) => {
      const other = { nodes: one.nodes.toReversed(), edges: one.edges.toReversed() };
      const [places, again] = [placesOf(one, 2, MAP_SHAPE), placesOf(other, 2, MAP_SHAPE)];
      return one.nodes.every(({ id }) => {
        const [a, b] = [places.get(id), again.get(id)];
        return a !== undefined && a.x === b?.x && a.y === b.y;
      });
    }),
    { numRuns: 50 },
  );
});

void t.test('nodes do not overlap', async (t) => {
  const wide = graphOf(
    Array.from({ length: 40 }, (_, i) => ({ source: `a${String(i % 5)}`, target: `s${String(i)}` })),
  );
  const many = graphOf(
    Array.from({ length: 150 }, (_, i) => ({ source: `a${String(i % 11)}`, target: `s${String(i % 70)}` })),
  );
  for (const one of [wide, many]) {
    const places = [...placesOf(one, 1, MAP_SHAPE).values()];
    const overlaps = places.filter((a, i) =>
      places.some(
        (b, j) => j > i && Math.abs(a.x - b.x) < MAP_SHAPE.width && Math.abs(a.y - b.y) < MAP_SHAPE.height,
      ),
    );
    t.equal(places.length, one.nodes.length);
    t.same(overlaps, []);
  }
});

void t.test('computes whole hours of a range, of one hour, and of the period before', async (t) => {
  const print = (hours: ReturnType<typeof hoursOf> | undefined): unknown => hours && printHours(hours);
  const at = (hour: number): string =>
    new Date(Date.parse('2026-11-26T00:00:00Z') + hour * HOUR).toISOString();
  const day = hoursOf('24h', '', NOW);
  t.same(print(day), { start_time: at(-12), end_time: at(13) });
  t.same(print(hoursBefore(day, 'before')), { start_time: at(-37), end_time: at(-12) });
  t.same(print(hoursBefore(day, 'day')), { start_time: at(-36), end_time: at(-11) });
  const one = hoursOf('24h', at(9), NOW);
  t.same(print(one), { start_time: at(9), end_time: at(10) });
  t.same(print(hoursBefore(one, 'week')), { start_time: at(9 - 168), end_time: at(10 - 168) });
  t.same(print(hoursOf('all', '', NOW)), {});
  t.equal(hoursBefore(hoursOf('all', '', NOW), 'day'), undefined);
  t.same(print(hoursOf('24h', 'never', NOW)), print(day), 'an invalid link');
});
