import t from 'tap';
import {
  edgeKey,
  fillOf,
  flowOf,
  labelPlaces,
  ratesOf,
  remembered,
  type FlowEdge,
  type Snapshot,
} from '../../src/ui/graph/flow.js';

const START = '2026-01-15T12:00:00.000Z';
const at = (seconds: number): string => new Date(Date.parse(START) + seconds * 1000).toISOString();

function edge(pipeline: string, from: string, to: string, counts: Partial<FlowEdge> = {}): FlowEdge {
  const end = (text: string): FlowEdge['from'] => {
    const [kind = '', id = ''] = text.split(' ');
    return { kind: kind as 'receiver', id };
  };
  const zero = { offered: 0, accepted: 0, refused: 0, failed: 0, p99_ms: null, queue: null };
  return { pipeline, from: end(from), to: end(to), ...zero, ...counts };
}

const EDGES = [
  edge('traces', 'receiver otlp', 'processor check'),
  edge('traces', 'receiver batch', 'processor check'),
  edge('traces', 'processor check', 'exporter storage'),
  edge('traces', 'processor check', 'exporter alerts'),
  edge('logs', 'receiver otlp', 'processor check'),
  edge('logs', 'processor check', 'exporter storage'),
];

function snapshot(seconds: number, offered: number, started = START): Snapshot {
  const [first] = EDGES;
  return {
    started_at: started,
    at: at(seconds),
    edges: first ? [{ ...first, offered, refused: offered / 10 }] : [],
  };
}

void t.test('rates cover the last ten seconds and restart with the daemon', (t) => {
  let history: readonly Snapshot[] = [];
  const look = (next: Snapshot): number | undefined => {
    history = remembered(history, next);
    return ratesOf(history)?.values().next().value?.offered;
  };
  t.equal(look(snapshot(0, 0)), undefined, 'nothing to compare');
  t.equal(look(snapshot(2, 20)), 10);
  t.equal(look(snapshot(10, 20)), 2);
  t.equal(look(snapshot(12, 40)), 2, 'since second two');
  t.match([...(ratesOf(history)?.values() ?? [])], [{ offered: 2, refused: 0.2, failed: 0 }]);
  t.equal(history.length, 3);
  const before = history;
  t.equal(look(snapshot(11, 30)), 2);
  t.equal(history, before, 'an outdated response changes nothing');
  t.equal(look(snapshot(500, 528)), 1, 'after a gap, over all of it');
  t.equal(look(snapshot(1, 5, at(600))), undefined, 'another daemon');
  t.equal(look(snapshot(3, 0, at(600))), 0, 'never negative');
  t.end();
});

void t.test('processors belong to a pipeline, receivers and exporters to all', (t) => {
  const all = flowOf(EDGES, '');
  t.equal(all.nodes.length, 6);
  t.equal(new Set(all.edges.map(edgeKey)).size, 6);
  t.same(
    flowOf(EDGES, 'logs').nodes.map(({ kind, id, pipeline }) => [kind, id, pipeline]),
    [
      ['receiver', 'otlp', null],
      ['processor', 'check', 'logs'],
      ['exporter', 'storage', null],
    ],
  );
  t.end();
});

void t.test('labels are near the end that no other edge shares', (t) => {
  t.same([...labelPlaces(EDGES).values()], [0.5, 0.38, 0.5, 0.62, 0.62, 0.38]);
  t.end();
});

void t.test('the fill level of a queue is the larger of its two ratios', (t) => {
  const queue = { items: 10, max_items: 100, bytes: 50, max_bytes: 100 };
  t.equal(fillOf(null), null);
  t.equal(fillOf(queue), 0.5);
  t.equal(fillOf({ ...queue, items: 90 }), 0.9);
  t.equal(fillOf({ ...queue, max_items: null, items: 1e9 }), 0.5);
  t.equal(fillOf({ ...queue, bytes: 300 }), 1, 'a single batch may be larger');
  t.equal(fillOf({ ...queue, max_bytes: 0 }), 0.1);
  t.end();
});
