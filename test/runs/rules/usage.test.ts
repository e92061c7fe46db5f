import fc from 'fast-check';
import t from 'tap';
import { usageOf, type UsageNode } from '../../../src/runs/rules/usage.js';
import { holds } from '../../support/property.js';

type Tree = readonly (readonly [
  id: string,
  parent: string | null,
  tokens: number | null,
  cost: number | null,
])[];

const NO_CALL = { call_key: null, started_at: 1, ended_at: 2 };

function nodes(tree: Tree): UsageNode[] {
  return tree.map(([span_id, parent_span_id, total_tokens, cost_usd]) => ({
    span_id,
    parent_span_id,
    total_tokens,
    cost_usd,
    ...NO_CALL,
  }));
}

const CASES: readonly { name: string; tree: Tree; tokens: number | null; cost: number | null }[] = [
  { name: 'no spans', tree: [], tokens: null, cost: null },
  { name: 'no reporting span', tree: [['a', null, null, null]], tokens: null, cost: null },
  { name: 'a span that reports zero', tree: [['a', null, 0, 0]], tokens: 0, cost: 0 },
  {
    name: 'an agent that repeats the sum of its children',
    tree: [
      ['agent', null, 30, 300],
      ['one', 'agent', 10, 100],
      ['two', 'agent', 20, 200],
    ],
    tokens: 30,
    cost: 300,
  },
  {
    name: 'an agent that claims more than its children',
    tree: [
      ['agent', null, 99, null],
      ['one', 'agent', 10, null],
    ],
    tokens: 10,
    cost: null,
  },
  {
    name: 'nested agents with a step in between that reports nothing',
    tree: [
      ['root', null, 60, null],
      ['inner', 'root', 50, null],
      ['step', 'inner', null, null],
      ['call', 'step', 40, null],
      ['beside', 'root', 5, null],
    ],
    tokens: 45,
    cost: null,
  },
  {
    name: 'tokens on the call and cost on the agent',
    tree: [
      ['agent', null, 10, 100],
      ['call', 'agent', 8, null],
    ],
    tokens: 8,
    cost: 100,
  },
  {
    name: 'a call whose parent is missing',
    tree: [
      ['agent', null, 10, 100],
      ['call', 'nobody', 8, 80],
    ],
    tokens: 18,
    cost: 180,
  },
  {
    name: 'children before their parents',
    tree: [
      ['call', 'step', 8, 80],
      ['step', 'agent', null, null],
      ['agent', null, 10, 100],
    ],
    tokens: 8,
    cost: 80,
  },
];

for (const { name, tree, tokens, cost } of CASES) {
  void t.test(`the usage of ${name}`, async (t) => {
    t.same(usageOf(nodes(tree)), { total_tokens: tokens, total_cost_usd: cost });
  });
}

void t.test('terminates for a cycle of parents', async (t) => {
  const ring = nodes([
    ['a', 'c', 1, null],
    ['b', 'a', 2, null],
    ['c', 'b', 3, null],
    ['outside', null, 4, null],
  ]);
  const { total_tokens } = usageOf(ring);
  t.ok(total_tokens !== null && total_tokens >= 4 && total_tokens <= 10, String(total_tokens));
});

void t.test('handles a chain of a hundred thousand spans', async (t) => {
  const chain = nodes(
    Array.from({ length: 100_000 }, (_, i) => [String(i), i === 0 ? null : String(i - 1), 1, 1] as const),
  );
  t.same(usageOf(chain), { total_tokens: 1, total_cost_usd: 1 });
  t.same(usageOf(chain.reverse()), { total_tokens: 1, total_cost_usd: 1 });
});

void t.test("caps sums at the store's limit", async (t) => {
  const many = nodes(
    Array.from(
      { length: 10_000 },
      (_, i) => [String(i), null, Number.MAX_SAFE_INTEGER, 999_999_999_999_999] as const,
    ),
  );
  const { total_tokens, total_cost_usd } = usageOf(many);
  t.equal(total_tokens, Number.MAX_SAFE_INTEGER);
  t.equal(total_cost_usd, Number.MAX_SAFE_INTEGER);
});

void t.test('usage does not depend on the order of spans', async (t) => {
  const tree = fc.array(
    fc.record({
      total_tokens: fc.option(fc.nat(1000)),
      cost_usd: fc.option(fc.nat(1000)),
      parent: fc.nat(20),
    }),
    { maxLength: 20 },
  );
  holds(
    t,
    fc.property(tree, fc.array(fc.nat(), { minLength: 20, maxLength: 20 }), (made, order) => {
      // The parent has a lower number or is missing.
      const spans = made.map(({ parent, ...measures }, i) => ({
        ...measures,
        ...NO_CALL,
        span_id: String(i),
        parent_span_id: parent < i ? String(parent) : null,
      }));
      const shuffled = spans
        .map((span, i) => ({ span, place: order[i] ?? 0 }))
        .sort((a, b) => a.place - b.place)
        .map(({ span }) => span);
      return JSON.stringify(usageOf(spans)) === JSON.stringify(usageOf(shuffled));
    }),
  );
});
