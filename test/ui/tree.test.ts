import fc from 'fast-check';
import t from 'tap';
import { criticalPath } from '../../src/ui/trace/critical-path.js';
import { findRepeats } from '../../src/ui/trace/repeats.js';
import { formatRepeated, formatRepeat, formatSameArguments } from '../../src/ui/trace/format-repeat.js';
import { closedBelow, findSpans, revealed, visibleRows } from '../../src/ui/trace/rows.js';
import type { RunSpan } from '../../src/ui/trace/span.js';
import { plainTimeLine, collapsedTimeLine } from '../../src/ui/trace/time-line.js';
import { mergeSpans } from '../../src/ui/trace/run-summary.js';
import { buildTree, extentOf } from '../../src/ui/trace/tree.js';
import { aSpanSummary as span } from '../support/ui-spans.js';

const NONE: ReadonlySet<number> = new Set();

/** Spans with arbitrary parents: each other, themselves or none. */
const anySpans = fc
  .array(fc.record({ parent: fc.option(fc.nat(14)), start: fc.nat(1000), length: fc.option(fc.nat(500)) }), {
    maxLength: 14,
  })
  .map((all) =>
    all.map(({ parent, start, length }, at) =>
      span(
        `s${String(at)}`,
        parent === null ? null : `s${String(parent)}`,
        start,
        length === null ? null : start + length,
      ),
    ),
  );
const NOW = 2000;

void t.test('every span has one place, below its parent if that exists', async (t) => {
  fc.assert(
    fc.property(anySpans, (spans) => {
      const nodes = buildTree(spans);
      t.same(nodes.map((node) => node.span.id).sort(), spans.map(({ id }) => id).sort());
      for (const [at, node] of nodes.entries()) {
        t.equal(node.index, at);
        const parent = nodes[node.parent];
        if (parent === undefined) {
          t.equal(node.rootReason === undefined, node.span.parentId === null);
          continue;
        }
        t.equal(parent.span.id, node.span.parentId);
        t.ok(parent.index < at && at < parent.subtreeEnd && node.subtreeEnd <= parent.subtreeEnd);
        t.equal(parent.children[node.position - 1], at);
      }
    }),
  );
});

void t.test('handles cycles, missing parents and spans that are their own parent', async (t) => {
  const nodes = buildTree([
    span('a', 'b', 5, 9),
    span('b', 'a', 1, 9),
    span('c', 'a', 6, 7),
    span('d', 'gone', 2, 3),
    span('e', 'e', 8, 9),
  ]);
  const shown = nodes
    .filter(({ parent }) => parent < 0)
    .map(({ span: { id }, rootReason }) => [id, rootReason]);
  t.same(shown, [
    ['d', 'orphan'],
    ['b', 'cycle'],
    ['e', 'cycle'],
  ]);
  t.equal(nodes.find((node) => node.span.id === 'c')?.depth, 2);
});

void t.test('cost and tokens of a subtree follow the rule of the daemon', async (t) => {
  const [root, call, , , , twin] = buildTree([
    span('root', null, 0, 20, { type: 'agent', cost: 9, tokens: 70 }),
    span('call', 'root', 1, 9, { type: 'llm', cost: 3, tokens: 30 }),
    span('part', 'call', 2, 3, { type: 'llm', cost: 4, status: 'failed' }),
    span('tool', 'call', 4, 8, { type: 'tool' }),
    span('inner', 'tool', 5, 7, { type: 'llm', cost: 2, tokens: 40, status: 'failed' }),
    span('twin', 'root', 10, 11, { type: 'llm', cost: 2, counted: false, sameAs: 'call' }),
  ]);
  t.equal(call?.cost, 6, 'the larger of a call and its parts, and what is below its tools');
  t.equal(call?.tokens, 70);
  t.equal(twin?.cost, null, 'counted on another span');
  t.equal(root?.cost, 9, 'more than below it');
  t.equal(root?.tokens, 70);
  t.equal(root?.failedBelow, 2);
});

void t.test('handles a hundred thousand nested spans and as many siblings', async (t) => {
  const deep = Array.from({ length: 100_000 }, (_, at) =>
    span(String(at), at === 0 ? null : String(at - 1), at, 200_000),
  );
  t.equal(buildTree(deep).at(-1)?.depth, 99_999);
  t.equal(criticalPath(buildTree(deep), NOW).length, 100_000);
  const wide = Array.from({ length: 100_000 }, (_, at) =>
    span(String(at), at === 0 ? null : '0', at, at + 1),
  );
  const nodes = buildTree(wide);
  t.equal(visibleRows(nodes, { closed: NONE, repeats: new Map(), openRepeats: NONE }).length, 100_000);
});

void t.test('the critical path never overlaps and covers the root if the tree has no gaps', async (t) => {
  fc.assert(
    fc.property(anySpans, (spans) => {
      const nodes = buildTree(spans);
      const parts = criticalPath(nodes, NOW);
      for (const [at, part] of parts.entries()) {
        t.ok(part.end > part.start);
        t.ok(at === 0 || part.start >= (parts[at - 1]?.end ?? 0));
        const of = nodes[part.index]?.span;
        t.ok(of && part.start >= of.start && part.end <= Math.max(of.start, of.end ?? NOW));
      }
      const roots = nodes.filter(({ parent }) => parent < 0);
      const last = roots.reduce<number>(
        (latest, { span: { start, end } }) => Math.max(latest, start, end ?? NOW),
        0,
      );
      const candidates = roots.filter(({ span: { start, end } }) => Math.max(start, end ?? NOW) === last);
      const total = parts.reduce((sum, part) => sum + part.end - part.start, 0);
      if (roots.length > 0)
        t.ok(candidates.some(({ span: { start } }) => Math.abs(total - (last - start)) < 1e-6));
    }),
  );
});

void t.test('the critical path follows the awaited spans', async (t) => {
  const nodes = buildTree([
    span('root', null, 0, 100),
    span('plan', 'root', 0, 30),
    span('slow', 'root', 30, 90),
    span('quick', 'root', 30, 50),
    span('inner', 'slow', 40, 80),
  ]);
  const path = criticalPath(nodes, NOW).map(({ index, start, end }) => [nodes[index]?.span.id, start, end]);
  t.same(path, [
    ['plan', 0, 30],
    ['slow', 30, 40],
    ['inner', 40, 80],
    ['slow', 80, 90],
    ['root', 90, 100],
  ]);
});

void t.test('a timeline is monotonic, fills the width and is invertible', async (t) => {
  fc.assert(
    fc.property(anySpans, (spans) => {
      const nodes = buildTree(spans);
      const extent = extentOf(nodes, NOW);
      for (const line of [collapsedTimeLine(nodes, extent, NOW), plainTimeLine(extent.start, extent.end)]) {
        t.equal(line.pieces[0]?.from, 0);
        t.ok(Math.abs((line.pieces.at(-1)?.to ?? 0) - 1) < 1e-9);
        let before = -1;
        for (let at = extent.start; at <= extent.end; at += Math.max(1, (extent.end - extent.start) / 20)) {
          const place = line.place(at);
          t.ok(place >= before && place >= 0 && place <= 1 + 1e-9);
          t.ok(Math.abs(line.time(place) - at) < 1e-3);
          before = place;
        }
      }
    }),
    { numRuns: 60 },
  );
});

void t.test('instants without gaps fill the width, too', async (t) => {
  const nodes = buildTree([span('root', null, 0, 100), span('a', 'root', 0, 0), span('b', 'root', 50, 50)]);
  t.same(collapsedTimeLine(nodes, { start: 0, end: 100 }, NOW).pieces, plainTimeLine(0, 100).pieces);
});

void t.test('collapses a long gap', async (t) => {
  const nodes = buildTree([
    span('root', null, 0, 1000),
    span('a', 'root', 0, 10),
    span('b', 'root', 990, 1000),
  ]);
  const line = collapsedTimeLine(nodes, { start: 0, end: 1000 }, NOW);
  t.same(
    line.pieces.map(({ isGap }) => isGap),
    [false, true, false],
  );
  t.ok(line.place(990) - line.place(10) < 0.05);
});

void t.test('repeats are consecutive siblings that do the same', async (t) => {
  const call = (id: string, start: number, more: Partial<RunSpan> = {}): RunSpan =>
    span(id, 'root', start, start + 1, { name: 'search', cost: 0.5, preview: '{"q":1}', ...more });
  const nodes = buildTree([
    span('root', null, 0, 100),
    call('a', 1),
    call('b', 3, { status: 'failed' }),
    call('c', 5),
    call('d', 7, { name: 'other' }),
    call('e', 9),
    call('f', 11),
  ]);
  const repeats = findRepeats(nodes);
  t.equal(repeats.size, 1, 'two are not enough');
  t.match(repeats.get(1), { members: [1, 2, 3], steps: 1, rounds: 3, isSame: true, failed: 1, end: 6 });
  t.match(repeats.get(1)?.all, { count: 3, cost: 1.5, ms: 3 });
  const shown = { closed: NONE, repeats, openRepeats: NONE };
  t.same(
    visibleRows(nodes, shown).map(({ kind, node }) => `${kind} ${node.span.id}`),
    ['span root', 'repeat a', 'span d', 'span e', 'span f'],
  );
  const opened = { ...shown, ...revealed(nodes, 2, shown) };
  const rows = visibleRows(nodes, opened);
  t.same(
    rows.map(({ kind, node, level }) => `${kind} ${node.span.id} ${String(level)}`),
    ['span root 1', 'repeat a 2', 'span a 3', 'span b 3', 'span c 3', 'span d 2', 'span e 2', 'span f 2'],
  );
});

void t.test('revealing a span expands its ancestors', async (t) => {
  fc.assert(
    fc.property(anySpans, fc.nat(14), fc.nat(4), (spans, wanted, depth) => {
      const nodes = buildTree(spans);
      if (wanted >= nodes.length) return;
      const shown = { closed: closedBelow(nodes, depth + 1), repeats: findRepeats(nodes), openRepeats: NONE };
      for (const row of visibleRows(nodes, shown)) t.ok(row.node.depth <= depth);
      const rows = visibleRows(nodes, { ...shown, ...revealed(nodes, wanted, shown) });
      t.ok(rows.some(({ kind, node }) => kind === 'span' && node.index === wanted));
    }),
  );
});

void t.test('search finds spans by their visible texts', async (t) => {
  const nodes = buildTree([
    span('a', null, 0, 1, { name: 'Plan', model: 'gpt-5' }),
    span('b', 'a', 0, 1, { error: 'Rate limit', preview: '{"city":"Oslo"}' }),
  ]);
  t.same(findSpans(nodes, 'rate LIMIT', undefined), [1]);
  t.same(findSpans(nodes, 'oslo', undefined), [1]);
  t.same(findSpans(nodes, 'gpt', undefined), [0]);
  t.same(findSpans(nodes, '  ', undefined), []);
  const payloads = new Map([[nodes[1]?.span.id ?? '', 'click forgot password']]);
  t.same(findSpans(nodes, 'Forgot', payloads), [1], 'payloads, too');
});

void t.test('counts and prices only calls repeated with the same input', async (t) => {
  const call = (id: string, start: number, preview: string, inputBytes: number) =>
    span(id, 'root', start, start + 10, { name: 'search', cost: 0.5, preview, inputBytes });
  const repeatOf = (...calls: ReturnType<typeof call>[]) =>
    [...findRepeats(buildTree([span('root', null, 0, 100), ...calls])).values()][0];
  t.same(repeatOf(call('a', 1, 'x', 1), call('b', 2, 'y', 1), call('c', 3, 'x', 1))?.again, {
    count: 1,
    cost: 0.5,
    tokens: null,
    ms: 10,
  });
  // Equal length is required for equality; an empty input equals nothing.
  t.equal(repeatOf(call('a', 1, 'x', 1), call('b', 2, 'x', 300), call('c', 3, 'x', 301))?.again, null);
  t.equal(repeatOf(call('a', 1, '', 0), call('b', 2, '', 0), call('c', 3, '', 0))?.again, null);
});

void t.test('an alternating loop is one row only if its inputs repeat', async (t) => {
  const loop = (rounds: number, arguments_: (round: number) => string, end: number | null = 0) =>
    Array.from({ length: rounds }, (_, round) => [
      span(`ask ${String(round)}`, 'root', round * 10, round * 10 + 4, {
        name: 'ask',
        type: 'llm',
        tokens: 100,
        cost: 0.5,
        preview: `the story so far ${String(round)}`,
      }),
      span(`search ${String(round)}`, 'root', round * 10 + 5, end === null ? null : round * 10 + 9, {
        name: 'search',
        preview: arguments_(round),
      }),
    ]).flat();
  const repeatsOf = (spans: readonly RunSpan[]) => [
    ...findRepeats(buildTree([span('root', null, 0, 900), ...spans])).values(),
  ];
  const [repeat, ...others] = repeatsOf(loop(4, () => '{"q":"weather"}'));
  t.same(others, []);
  t.match(repeat, { steps: 2, rounds: 4, isSame: true, end: 39 });
  t.match(repeat?.all, { count: 8, cost: 2, tokens: 400, ms: 32 });
  t.match(repeat?.again, { count: 3, cost: null, ms: 12 }, 'the model call has a different input each time');
  t.equal(repeat && formatSameArguments(repeat), 'same arguments 4 times');
  t.match(repeat && formatRepeat(repeat), 'Total: $2.00, 400 tokens, 32 ms.');
  t.match(repeat && formatRepeat(repeat), 'size and beginning): 12 ms.');
  t.equal(repeat?.again && formatRepeated(repeat.again), '3 again', 'no known cost');
  t.equal(repeat && formatRepeated(repeat.all), '$2.00 again');
  t.same(repeatsOf(loop(4, String)), [], 'typical agent loops');
  t.same(repeatsOf(loop(2, () => 'x')), [], 'two rounds are not enough');
  t.match(repeatsOf(loop(6, (round) => (round < 2 ? String(round) : 'x')))[0], { rounds: 4, steps: 2 });
  t.equal(repeatsOf(loop(3, () => 'x', null))[0]?.end, null, 'one still runs');
  const wide = loop(50_000, (round) => String(Math.floor(round / 2)));
  t.same(repeatsOf(wide), []);
});

void t.test('updates replace known spans', async (t) => {
  const known = [span('a', null, 0, null), span('b', 'a', 1, 2)];
  t.equal(mergeSpans(known, []), known);
  const later = [span('c', 'a', 3, 4), span('a', null, 0, 5)];
  t.same(mergeSpans(known, later), [later[1], known[1], later[0]]);
});
