import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { parentPositions } from '../../src/signal/parent-positions.js';
import { AGENT_NODE, NO_NODE } from '../../src/signal/service-map.js';
import { SPAN_TYPES, type SpanType } from '../../src/signal/span.js';
import { countTrace, hourOf, TYPE_CODES, type MapSpan } from '../../src/signal/trace-map.js';
import { holds } from '../support/property.js';

/** Index of the trace's agent in these tests. */
const AGENT = 0;

type Line = readonly [id: string, parent: string | null, type: SpanType, node: number];

function spansOf(lines: readonly Line[]): MapSpan[] {
  return lines.map(([span_id, parent_span_id, type, node]) => ({
    span_id,
    parent_span_id,
    type: TYPE_CODES[type],
    node,
    ...{ status: 'completed', started_at: 0, ended_at: 1000 },
  }));
}

/** Each sum by its subject, in order. */
function count(spans: readonly MapSpan[]) {
  const nodes = new Map<string, [number, number]>();
  const edges = new Map<string, number>();
  countTrace(AGENT, spans, {
    node(node, type, _grade, count, traces) {
      const key = `${node} ${SPAN_TYPES[type] ?? '?'}`;
      const [before, tracesBefore] = nodes.get(key) ?? [0, 0];
      nodes.set(key, [before + count, tracesBefore + traces]);
    },
    edge(source, target, _grade, count) {
      const key = `${source}>${target}`;
      edges.set(key, (edges.get(key) ?? 0) + count);
    },
  });
  return { nodes: sorted(nodes), edges: sorted(edges) };
}

function sorted<Value>(map: ReadonlyMap<string, Value>): Record<string, Value> {
  return Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)));
}

interface Case {
  readonly what: string;
  readonly spans: readonly Line[];
  readonly nodes?: Record<string, [number, number]>;
  readonly edges: Record<string, number>;
}

const CASES: readonly Case[] = [
  { what: 'no spans: the agent alone', spans: [], nodes: { '0 agent': [0, 1] }, edges: {} },
  {
    what: 'model calls only: the agent alone',
    spans: [
      ['a', null, 'llm', NO_NODE],
      ['b', 'a', 'tool', NO_NODE],
    ],
    nodes: { '0 agent': [0, 1] },
    edges: {},
  },
  {
    what: 'without an agent span, what is at the top hangs under the agent',
    spans: [
      ['a', null, 'http', 1],
      ['b', 'a', 'db', 2],
      ['c', null, 'llm', NO_NODE],
      ['d', 'c', 'db', 2],
    ],
    nodes: { '0 agent': [0, 1], '1 http': [1, 0], '2 db': [2, 0] },
    edges: { '0>1': 1, '0>2': 1, '1>2': 1 },
  },
  {
    what: 'with an agent span, what has no ancestor has no edge',
    spans: [
      ['a', null, 'agent', AGENT_NODE],
      ['b', 'a', 'http', 1],
      ['c', null, 'http', 1],
      ['d', 'missing', 'db', 2],
    ],
    nodes: { '0 agent': [1, 1], '1 http': [2, 0], '2 db': [1, 0] },
    edges: { '0>1': 1 },
  },
  {
    what: 'a missing parent is as none',
    spans: [['a', 'missing', 'http', 1]],
    edges: { '0>1': 1 },
  },
  {
    what: 'several agents: those with names of their own are nodes of their own',
    spans: [
      ['a', null, 'agent', AGENT_NODE],
      ['b', 'a', 'agent', 1],
      ['c', 'b', 'llm', NO_NODE],
      ['d', 'c', 'agent', 2],
      ['e', 'd', 'tool', NO_NODE],
      ['f', 'e', 'db', 3],
      ['g', 'a', 'agent', AGENT],
    ],
    nodes: { '0 agent': [2, 1], '1 agent': [1, 0], '2 agent': [1, 0], '3 db': [1, 0] },
    edges: { '0>1': 1, '1>2': 1, '2>3': 1 },
  },
  {
    what: 'no edge from a node to itself, whichever spans make it',
    spans: [
      ['a', null, 'http', 1],
      ['b', 'a', 'http', 1],
      ['c', 'b', 'custom', 1],
      ['d', null, 'custom', AGENT],
    ],
    nodes: { '0 agent': [0, 1], '0 custom': [1, 0], '1 custom': [1, 0], '1 http': [2, 0] },
    edges: { '0>1': 1 },
  },
  {
    what: 'a circle of model calls ends where it would repeat',
    spans: [
      ['a', 'c', 'llm', NO_NODE],
      ['b', 'a', 'llm', NO_NODE],
      ['c', 'b', 'llm', NO_NODE],
      ['d', 'c', 'http', 1],
      ['e', 'a', 'db', 2],
    ],
    edges: { '0>1': 1, '0>2': 1 },
  },
  {
    what: 'a circle of mapped spans',
    spans: [
      ['a', 'b', 'http', 1],
      ['b', 'a', 'db', 2],
    ],
    edges: { '1>2': 1, '2>1': 1 },
  },
  {
    what: 'a span that is its own parent',
    spans: [
      ['a', 'a', 'http', 1],
      ['b', 'b', 'llm', NO_NODE],
      ['c', 'b', 'db', 2],
    ],
    edges: { '0>2': 1 },
  },
];

for (const { what, spans, nodes, edges } of CASES) {
  void t.test(what, async (t) => {
    for (const lines of [spans, spans.toReversed()]) {
      const found = count(spansOf(lines));
      if (nodes !== undefined) t.same(found.nodes, nodes);
      t.same(found.edges, edges);
    }
  });
}

void t.test('chains and stars of 100,000 model calls take linear time', async (t) => {
  const size = 100_000;
  const chain: Line[] = Array.from({ length: size }, (_, i) => [
    `s${i}`,
    i === 0 ? 'top' : `s${i - 1}`,
    'llm',
    NO_NODE,
  ]);
  const leaves: Line[] = Array.from({ length: size }, (_, i) => [`l${i}`, `s${i}`, 'http', 2]);
  const spans = spansOf([['top', null, 'db', 1], ...chain, ...leaves]);
  t.same(count(spans).edges, { '0>1': 1, '1>2': size });
  t.same(count(spans.toReversed()).edges, { '0>1': 1, '1>2': size });
});

/** Reference implementation of the rules, ancestor by ancestor. */
function plainEdges(spans: readonly MapSpan[]): Record<string, number> {
  const byId = new Map(spans.map((span) => [span.span_id, span]));
  const edges = new Map<string, number>();
  const node = (span: MapSpan) => (span.node === AGENT_NODE ? AGENT : span.node);
  for (const span of spans.filter(({ node }) => node !== NO_NODE)) {
    const seen = new Set<MapSpan>();
    let above = byId.get(span.parent_span_id ?? '');
    while (above !== undefined && above.node === NO_NODE && !seen.has(above)) {
      seen.add(above);
      above = byId.get(above.parent_span_id ?? '');
    }
    const caller = above === undefined || above.node === NO_NODE ? undefined : node(above);
    const hasAgent = spans.some(({ type }) => type === TYPE_CODES.agent);
    const source = caller ?? (hasAgent ? undefined : AGENT);
    if (source === undefined || source === node(span)) continue;
    edges.set(`${source}>${node(span)}`, (edges.get(`${source}>${node(span)}`) ?? 0) + 1);
  }
  return sorted(edges);
}

const trace = fc.nat(40).chain((size) =>
  fc.array(
    fc
      .tuple(
        fc.constantFrom(...SPAN_TYPES),
        fc.nat(3),
        fc.oneof(fc.constant(null), fc.nat(size + 1)),
        fc.boolean(),
      )
      .map(([type, name, parent, isNamed]) => ({ type, name, parent, isNamed })),
    { minLength: size, maxLength: size },
  ),
);

void t.test('edges follow the rules for any tree', async (t) => {
  holds(
    t,
    fc.property(trace, (lines) => {
      const spans = spansOf(
        lines.map(({ type, name, parent, isNamed }, i): Line => {
          const isMapped = type !== 'llm' && type !== 'tool';
          const node = !isMapped ? NO_NODE : type === 'agent' && !isNamed ? AGENT_NODE : name;
          return [`s${i}`, parent === null ? null : `s${parent}`, type, node];
        }),
      );
      const positions = lines.map(({ parent }) => (parent === null || parent >= lines.length ? -1 : parent));
      return (
        isDeepStrictEqual(parentPositions(spans), positions) &&
        isDeepStrictEqual(count(spans).edges, plainEdges(spans))
      );
    }),
  );
});

void t.test('a trace counts in the hour in which it started, also before 1970', async (t) => {
  const hour = 3_600_000_000;
  t.same([0, hour - 1, hour, -1, -hour, -hour - 1].map(hourOf), [0, 0, 1, -1, -1, -2]);
});
