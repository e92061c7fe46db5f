import fc from 'fast-check';
import t from 'tap';
import { COUNTS } from '../../../src/runs/rules/duplicate-calls.js';
import {
  countedOnce,
  countedUsage,
  usageOf,
  USUAL_COUNTS,
  type UsageNode,
} from '../../../src/runs/rules/usage.js';
import { SPAN_TYPES, type SpanType } from '../../../src/signal/span.js';
import { itemAt } from '../../../src/signal/checked.js';
import { TYPE_CODES } from '../../../src/signal/trace-map.js';
import { holds, same } from '../../support/property.js';
import { recursiveUsage } from '../../support/recursive-usage.js';
import { callKeys } from '../histories.js';

type Tree = readonly (readonly [
  id: string,
  parent: string | null,
  type: SpanType,
  tokens: number | null,
  cost: number | null,
])[];

const NO_CALL = { call_key: null, started_at: 1, ended_at: 2 };

function nodes(tree: Tree): UsageNode[] {
  return tree.map(([span_id, parent_span_id, type, total_tokens, cost_usd]) => ({
    span_id,
    parent_span_id,
    type: TYPE_CODES[type],
    total_tokens,
    cost_usd,
    ...NO_CALL,
  }));
}

const CASES: readonly {
  name: string;
  tree: Tree;
  tokens: number | null;
  cost: number | null;
  /** The spans that count as calls, and the counted tokens of each span, if not 0. */
  calls?: readonly string[];
  counted?: Readonly<Record<string, number>>;
}[] = [
  { name: 'no spans', tree: [], tokens: null, cost: null },
  { name: 'no reporting span', tree: [['a', null, 'tool', null, null]], tokens: null, cost: null },
  { name: 'a span that reports zero', tree: [['a', null, 'agent', 0, 0]], tokens: 0, cost: 0 },
  {
    name: 'an agent that repeats the sum of its calls',
    tree: [
      ['agent', null, 'agent', 30, 300],
      ['one', 'agent', 'llm', 10, 100],
      ['two', 'agent', 'llm', 20, 200],
    ],
    tokens: 30,
    cost: 300,
    calls: ['one', 'two'],
    counted: { one: 10, two: 20 },
  },
  {
    name: 'an agent that reports more than its calls',
    tree: [
      ['agent', null, 'agent', 99, 242],
      ['one', 'agent', 'llm', 10, 10],
    ],
    tokens: 99,
    cost: 242,
    calls: ['one'],
    counted: { agent: 89, one: 10 },
  },
  {
    name: 'nested agents with a step in between that reports nothing',
    tree: [
      ['root', null, 'agent', 60, null],
      ['inner', 'root', 'agent', 50, null],
      ['step', 'inner', 'custom', null, null],
      ['call', 'step', 'llm', 40, null],
      ['beside', 'root', 'llm', 5, null],
    ],
    tokens: 60,
    cost: null,
    calls: ['beside', 'call'],
    counted: { root: 5, inner: 10, call: 40, beside: 5 },
  },
  {
    name: 'tokens on the call and cost on the agent',
    tree: [
      ['agent', null, 'agent', 10, 100],
      ['call', 'agent', 'llm', 8, null],
    ],
    tokens: 10,
    cost: 100,
  },
  {
    name: 'a call whose parent is missing',
    tree: [
      ['agent', null, 'agent', 10, 100],
      ['call', 'nobody', 'llm', 8, 80],
    ],
    tokens: 18,
    cost: 180,
  },
  {
    name: 'a wrapper of one call, with an attempt below',
    tree: [
      ['node', null, 'llm', 30, null],
      ['request', 'node', 'llm', 30, 7],
      ['attempt', 'request', 'llm', null, null],
    ],
    tokens: 30,
    cost: 7,
    calls: ['request'],
    counted: { request: 30 },
  },
  {
    name: 'a wrapper of two calls that reports less than both, with a step in between',
    tree: [
      ['wrapper', null, 'llm', 25, null],
      ['step', 'wrapper', 'custom', null, null],
      ['one', 'step', 'llm', 10, null],
      ['two', 'step', 'llm', 20, null],
    ],
    tokens: 30,
    cost: null,
    calls: ['one', 'two'],
    counted: { one: 10, two: 20 },
  },
  {
    name: 'calls without usage',
    tree: [
      ['wrapper', null, 'llm', null, null],
      ['one', 'wrapper', 'llm', null, null],
      ['two', 'wrapper', 'llm', null, null],
    ],
    tokens: null,
    cost: null,
    calls: ['one', 'two'],
  },
  {
    name: 'a call with a tool below that makes another call',
    tree: [
      ['call', null, 'llm', 100, 10],
      ['step', 'call', 'custom', null, null],
      ['tool', 'step', 'tool', null, null],
      ['inner', 'tool', 'llm', 40, 4],
      ['part', 'call', 'llm', 90, 12],
    ],
    tokens: 140,
    cost: 16,
    calls: ['inner', 'part'],
    counted: { call: 10, inner: 40, part: 90 },
  },
  {
    name: 'a cycle of parents, in which each span counts itself',
    tree: [
      ['a', 'c', 'llm', 1, null],
      ['b', 'a', 'agent', 2, null],
      ['c', 'b', 'llm', 3, null],
      ['below', 'c', 'llm', 2, null],
      ['itself', 'itself', 'llm', 4, null],
    ],
    tokens: 10,
    cost: null,
    calls: ['a', 'below', 'itself'],
    counted: { a: 1, b: 2, below: 2, c: 1, itself: 4 },
  },
];

for (const { name, tree, tokens, cost, calls, counted } of CASES) {
  void t.test(`the usage of ${name}`, async (t) => {
    for (const spans of [nodes(tree), nodes(tree).reverse()]) {
      const { usage, counts } = countedOnce(spans);
      t.same(usage, { total_tokens: tokens, total_cost_usd: cost });
      const its = spans.map((span) => ({ ...span, ...(counts.get(span.span_id) ?? USUAL_COUNTS) }));
      const isCall = (span: (typeof its)[number]): boolean =>
        span.type === TYPE_CODES.llm && (span.counted & COUNTS.call) > 0;
      if (calls !== undefined)
        t.same(
          its
            .filter(isCall)
            .map(({ span_id }) => span_id)
            .sort(),
          calls,
        );
      if (counted !== undefined)
        t.same(
          Object.fromEntries(
            its
              .map((span) => [span.span_id, countedUsage(span).total_tokens])
              .filter(([, of]) => (of ?? 0) !== 0),
          ),
          counted,
        );
    }
  });
}

void t.test('handles a chain of a hundred thousand spans', async (t) => {
  const chain = nodes(
    Array.from(
      { length: 100_000 },
      (_, i) => [String(i), i === 0 ? null : String(i - 1), 'llm', 1, 1] as const,
    ),
  );
  t.same(usageOf(chain), { total_tokens: 1, total_cost_usd: 1 });
  t.same(usageOf(chain.reverse()), { total_tokens: 1, total_cost_usd: 1 });
});

void t.test("caps sums at the store's limit", async (t) => {
  const many = nodes(
    Array.from(
      { length: 10_000 },
      (_, i) => [String(i), null, 'llm', Number.MAX_SAFE_INTEGER, 999_999_999_999_999] as const,
    ),
  );
  const { total_tokens, total_cost_usd } = usageOf(many);
  t.equal(total_tokens, Number.MAX_SAFE_INTEGER);
  t.equal(total_cost_usd, Number.MAX_SAFE_INTEGER);
});

const anyTree = fc
  .array(
    fc.record({
      type: fc.constantFrom(...SPAN_TYPES, 'llm' as const, 'llm' as const),
      total_tokens: fc.option(fc.nat(1000)),
      cost_usd: fc.option(fc.nat(1000)),
      parent: fc.nat(24),
      key: fc.option(callKeys, { nil: null }),
    }),
    { maxLength: 20 },
  )
  .map((made) =>
    made.map(({ parent, key, type, ...measures }, i): UsageNode => {
      // Parents may be missing, later in the list, or form cycles.
      const place = { span_id: String(i), parent_span_id: parent === 24 ? null : String(parent) };
      const call_key = type === 'llm' ? key : null;
      return { ...measures, ...place, type: TYPE_CODES[type], call_key, started_at: i % 3, ended_at: 5 };
    }),
  );

void t.test(
  'the amounts of spans add up, in any order, and no run totals less than one of its spans',
  async (t) => {
    holds(
      t,
      fc.property(anyTree, fc.array(fc.nat(), { minLength: 20, maxLength: 20 }), (spans, order) => {
        const shuffled = spans
          .map((span, i) => ({ span, place: order[i] ?? 0 }))
          .sort((a, b) => a.place - b.place)
          .map(({ span }) => span);
        const { usage, counts } = countedOnce(spans);
        const other = countedOnce(shuffled);
        same(other.usage, usage);
        same(new Map([...other.counts].sort()), new Map([...counts].sort()));
        const amounts = spans.map((span) =>
          countedUsage({ ...span, ...(counts.get(span.span_id) ?? USUAL_COUNTS) }),
        );
        for (const [of, own] of [
          ['total_tokens', 'total_tokens'],
          ['total_cost_usd', 'cost_usd'],
        ] as const) {
          same(
            amounts.reduce((all, amount) => all + (amount[of] ?? 0), 0),
            usage[of] ?? 0,
          );
          for (const span of spans) same((usage[of] ?? 0) >= (span[own] ?? 0), true);
        }
      }),
      { numRuns: 1000 },
    );
  },
);

void t.test('the sums are those of the recursive rule', async (t) => {
  holds(
    t,
    fc.property(anyTree, (made) => {
      const spans = made.map((span) => ({ ...span, call_key: null }));
      const typeOf = ({ type }: UsageNode): string => itemAt(SPAN_TYPES, type);
      same(usageOf(spans), {
        total_tokens: recursiveUsage(spans, ({ total_tokens: tokens }) => tokens, typeOf),
        total_cost_usd: recursiveUsage(spans, ({ cost_usd: cost }) => cost, typeOf),
      });
    }),
    { numRuns: 500 },
  );
});
