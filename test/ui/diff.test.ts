import fc from 'fast-check';
import t from 'tap';
import { traceIdIn } from '../../src/ui/format/trace-id.js';
import { parseJson } from '../../src/ui/json/parse.js';
import { diffTexts, payloadText, shortened } from '../../src/ui/messages/diff-text.js';
import { diffRuns, isChanged, type PayloadSizes, type RunDiff } from '../../src/ui/trace/diff.js';
import type { RunSpan } from '../../src/ui/trace/span.js';
import { buildTree } from '../../src/ui/trace/tree.js';
import { aSpanSummary as span } from '../support/ui-spans.js';

const NO_SIZES: ReadonlyMap<string, PayloadSizes> = new Map();

function diffOf(a: readonly RunSpan[], b: readonly RunSpan[], sizes = NO_SIZES): RunDiff {
  return diffRuns(buildTree(a), buildTree(b), sizes);
}

/** Spans below any earlier one, with few names so that some match. */
const anyRun = (side: string): fc.Arbitrary<RunSpan[]> =>
  fc
    .array(fc.record({ parent: fc.option(fc.nat(11)), name: fc.constantFrom('x', 'y', 'z') }), {
      maxLength: 12,
    })
    .map((all) =>
      all.map(({ parent, name }, at) =>
        span(
          `${side}${String(at)}`,
          parent === null || parent >= at ? null : `${side}${String(parent)}`,
          at,
          at + 1,
          {
            name,
          },
        ),
      ),
    );

/** The content of each row, such as `a1=b2 name`. */
function shown({ rows }: RunDiff): string[] {
  return rows.map(({ a, b, differences }) =>
    [`${a?.span.id ?? ''}=${b?.span.id ?? ''}`, ...differences].join(' '),
  );
}

void t.test('each span of both runs has one row, in tree order below its parent', async (t) => {
  fc.assert(
    fc.property(anyRun('a'), anyRun('b'), (spansA, spansB) => {
      const [a, b] = [buildTree(spansA), buildTree(spansB)];
      const { rows, first, counts } = diffRuns(a, b, NO_SIZES);
      for (const [nodes, side] of [
        [a, 'a'],
        [b, 'b'],
      ] as const) {
        t.same(
          rows.flatMap((row) => row[side]?.span.id ?? []),
          nodes.map((node) => node.span.id),
        );
        for (const row of rows) {
          const node = row[side];
          if (node) t.equal(rows[row.parent]?.[side], nodes[node.parent]);
        }
      }
      rows.forEach(({ parent, depth, changedBelow }, at) => {
        t.equal(depth, parent < 0 ? 0 : (rows[parent]?.depth ?? NaN) + 1);
        const below = rows.slice(at + 1);
        const end = below.findIndex((row) => row.depth <= depth);
        t.equal(below.slice(0, end < 0 ? undefined : end).filter(isChanged).length, changedBelow);
      });
      t.equal(counts.same + counts.changed + counts.onlyA + counts.onlyB, rows.length);
      t.equal(first === undefined, counts.same === rows.length);
    }),
    { numRuns: 200 },
  );
});

void t.test('a run equals itself', async (t) => {
  fc.assert(
    fc.property(anyRun('a'), (spans) => {
      const { rows, first, counts } = diffOf(spans, spans);
      t.equal(first, undefined);
      t.equal(counts.same, spans.length);
      for (const { a, b } of rows) t.equal(a?.span.id, b?.span.id);
    }),
    { numRuns: 100 },
  );
});

void t.test('shows added, removed and replaced steps', async (t) => {
  const run = (side: string, names: readonly string[]): RunSpan[] => [
    span(`${side}0`, null, 0, 100, { name: 'agent' }),
    ...names.map((name, at) => span(`${side}${String(at + 1)}`, `${side}0`, at + 1, at + 2, { name })),
  ];
  const { rows, first } = diffOf(
    run('a', ['plan', 'search', 'write']),
    run('b', ['plan', 'look', 'check', 'write']),
  );
  t.same(shown({ rows, first } as RunDiff), ['a0=b0', 'a1=b1', 'a2=', '=b2', '=b3', 'a3=b4']);
  t.equal(first, 2);
  t.same(shown(diffOf(run('a', ['plan', 'search', 'write']), run('b', ['plan', 'look', 'write']))), [
    'a0=b0',
    'a1=b1',
    'a2=b2 name',
    'a3=b3',
  ]);
});

void t.test(
  'the first difference is the first different input, not a different result above it',
  async (t) => {
    const run = (side: string, more: Partial<RunSpan>): RunSpan[] => [
      span(`${side}0`, null, 0, 9, { name: 'agent', ...more }),
      span(`${side}1`, `${side}0`, 1, 2, { name: 'ask', preview: '{"q":"a"}' }),
      span(`${side}2`, `${side}0`, 3, 4, { name: 'tool', ...more }),
    ];
    const sizes = new Map([
      ['a0', { input: 5, output: 10 }],
      ['b0', { input: 5, output: 20 }],
    ]);
    const diff = diffOf(run('a', {}), run('b', { status: 'failed' }), sizes);
    t.same(shown(diff), ['a0=b0 status output', 'a1=b1', 'a2=b2 status']);
    t.equal(diff.first, 2);
    t.equal(diff.rows[0]?.changedBelow, 1);
  },
);

void t.test('compares ten thousand siblings without common spans or in another order', async (t) => {
  const wide = (side: string, name: (at: number) => string): RunSpan[] =>
    Array.from({ length: 10_000 }, (_, at) =>
      span(`${side}${String(at)}`, at === 0 ? null : `${side}0`, at, 20_000, {
        name: at === 0 ? 'r' : name(at),
      }),
    );
  const apart = diffOf(
    wide('a', (at) => `a${String(at)}`),
    wide('b', (at) => `b${String(at)}`),
  );
  t.same(apart.counts, { same: 1, changed: 0, onlyA: 9999, onlyB: 9999 });
  const toggled = diffOf(
    wide('a', (at) => String(at % 100)),
    wide('b', (at) => String((at * 7) % 100)),
  );
  t.ok(toggled.counts.same > 100);
  const deep = Array.from({ length: 10_000 }, (_, at) =>
    span(String(at), at === 0 ? null : String(at - 1), at, 20_000),
  );
  t.equal(diffOf(deep, deep).rows.at(-1)?.depth, 9999);
});

void t.test('compares texts by lines, then by words', async (t) => {
  t.same(diffTexts('one\ntwo words\nend\n', 'one\ntwo other words\nend\n'), [
    { kind: 'same', text: 'one\n' },
    { kind: 'same', text: 'two ' },
    { kind: 'new', text: 'other ' },
    { kind: 'same', text: 'words\n' },
    { kind: 'same', text: 'end\n' },
  ]);
  t.same(
    diffTexts('You are the first line of a team.\n', 'You are a warm and thorough member of a team.\n'),
    [
      { kind: 'same', text: 'You are ' },
      { kind: 'gone', text: 'the first line ' },
      { kind: 'new', text: 'a warm and thorough member ' },
      { kind: 'same', text: 'of a team.\n' },
    ],
    'words separated only by spaces are one change',
  );
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n') }),
      fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n') }),
      (a, b) => {
        const pieces = diffTexts(a, b) ?? [];
        const without = (kind: string): string =>
          pieces.flatMap((piece) => (piece.kind === kind ? [] : piece.text)).join('');
        t.equal(without('new'), a);
        t.equal(without('gone'), b);
      },
    ),
    { numRuns: 200 },
  );
  const lines = (word: string): string =>
    Array.from({ length: 3000 }, (_, at) => `${word} ${String(at)}\n`).join('');
  t.equal(diffTexts(lines('a'), lines('b')), undefined, 'too different');
});

void t.test('long equal parts show only their ends', async (t) => {
  const text = Array.from({ length: 50 }, (_, at) => `line ${String(at)}\n`).join('');
  const { head, hidden, tail } = shortened({ kind: 'same', text }, false, false);
  t.equal(head, 'line 0\nline 1\nline 2\n');
  t.equal(tail, 'line 47\nline 48\nline 49\n');
  t.equal(hidden, 44);
  t.equal(shortened({ kind: 'same', text: 'a\nb\n' }, false, false).hidden, 0);
  t.equal(shortened({ kind: 'new', text }, false, false).hidden, 0);
});

void t.test('shows payloads as conversation text or JSON', async (t) => {
  const detail = parseJson(
    '{"input_data":{"messages":[{"role":"user","content":"Hello"}],"model":"m"},"output_data":{"rows":1.0},"metadata":null}',
  );
  t.equal(payloadText(detail, 'input'), 'user\nHello\n\nmodel: "m"\n');
  t.equal(payloadText(detail, 'output'), '{\n  "rows": 1.0\n}');
  t.equal(payloadText(parseJson('{"input_data":null}'), 'input'), '');
});

void t.test('reads typed or pasted trace ids', async (t) => {
  const id = '7b8c1c1e-0d5c-4a53-9a55-1d0a3a7a5a01';
  t.equal(traceIdIn(` ${id.toUpperCase()} `), id);
  t.equal(traceIdIn(id.replaceAll('-', '')), id);
  t.equal(
    traceIdIn(`https://ops.example.com/jackdaw/traces/${id}?span=7b8c1c1e-0d5c-4a53-9a55-000000000000`),
    id,
  );
  for (const text of ['', 'run', `${id}0`, `x${id}`, 'https://ops.example.com/traces/last'])
    t.equal(traceIdIn(text), undefined, text);
});
