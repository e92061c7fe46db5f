import fc from 'fast-check';
import t from 'tap';
import { callKey } from '../../../src/signal/call-key.js';
import { COUNTS, MAX_REPORTERS } from '../../../src/runs/rules/duplicate-calls.js';
import { countedOnce, type UsageNode } from '../../../src/runs/rules/usage.js';
import { LOGGED_SCOPE } from '../../../src/signal/logged-scope.js';
import { TYPE_CODES } from '../../../src/signal/trace-map.js';
import { holds, same } from '../../support/property.js';
import { callKeys } from '../histories.js';

interface Said {
  readonly scope?: string;
  readonly model?: string | null;
  readonly provider?: string | null;
  readonly response?: string | null;
  readonly parent?: string | null;
  readonly time?: readonly [start: number, end: number | null];
  readonly tokens?: number | null;
  readonly cost?: number | null;
}

function aCall(span_id: string, said: Said = {}): UsageNode {
  const { scope = 'openai', model = 'gpt-4o', provider = 'openai', response = null } = said;
  const [started_at, ended_at] = said.time ?? [0, 10];
  return {
    span_id,
    parent_span_id: said.parent === undefined ? 'agent' : said.parent,
    type: TYPE_CODES.llm,
    call_key: callKey({ scope, model, provider, response }),
    started_at,
    ended_at,
    total_tokens: said.tokens === undefined ? 5 : said.tokens,
    cost_usd: said.cost === undefined ? 7 : said.cost,
  };
}

const AGENT: UsageNode = {
  ...aCall('agent', { parent: null, tokens: null, cost: null }),
  type: TYPE_CODES.agent,
  call_key: null,
};
/** The other reporter. */
const OTHER = { scope: 'langchain' };

/** A program's log events. */
const LOGGED = { scope: LOGGED_SCOPE };

/** The counting spans of calls, where they differ. */
function sames(...spans: UsageNode[]): Record<string, string> {
  return Object.fromEntries(
    [...countedOnce([AGENT, ...spans]).counts].flatMap(([id, { same_as }]) =>
      same_as === null ? [] : [[id, same_as]],
    ),
  );
}

const CASES: readonly {
  readonly name: string;
  readonly spans: readonly UsageNode[];
  /** The counted span by its duplicate. */
  readonly same: Readonly<Record<string, string>>;
}[] = [
  {
    name: 'of sibling reports by two scopes the last started counts',
    spans: [aCall('a', { ...OTHER, time: [0, 10] }), aCall('b', { time: [1, 9] })],
    same: { a: 'b' },
  },
  {
    name: 'log events count on the last call of their model before them',
    spans: [
      aCall('a', { time: [1, 2] }),
      aCall('b', { time: [3, 4] }),
      aCall('c', { ...LOGGED, time: [0, 0] }),
      aCall('d', { ...LOGGED, time: [3, 3] }),
      aCall('e', { ...LOGGED, model: 'claude-opus-4-5', time: [3, 3] }),
    ],
    same: { c: 'a', d: 'b' },
  },
  {
    name: 'a call and a duplicate below it',
    spans: [aCall('a', OTHER), aCall('b', { parent: 'a', time: [1, 9] })],
    same: { a: 'b' },
  },
  {
    name: 'a duplicate below that started first by another clock',
    spans: [aCall('a', { ...OTHER, time: [2, 10] }), aCall('b', { parent: 'a', time: [1, 9] })],
    same: { a: 'b' },
  },
  {
    name: 'three reports of one call',
    spans: [
      aCall('a', { ...OTHER, time: [0, 20] }),
      aCall('b', { scope: 'proxy', parent: 'a', time: [1, 19] }),
      aCall('c', { parent: 'b', time: [2, 18] }),
    ],
    same: { a: 'c', b: 'c' },
  },
  {
    name: 'the more detailed report counts, tokens first',
    spans: [aCall('a', { ...OTHER, time: [0, 10] }), aCall('b', { time: [1, 9], tokens: null })],
    same: { b: 'a' },
  },
  {
    name: 'one response id at different positions and with different models',
    spans: [
      aCall('a', { ...OTHER, parent: 'chain', model: 'router', response: 'chatcmpl-1' }),
      aCall('b', { response: 'chatcmpl-1', time: [1, 9] }),
    ],
    same: { a: 'b' },
  },
  {
    name: 'only one report has a response id',
    spans: [aCall('a', OTHER), aCall('b', { response: 'chatcmpl-1', time: [1, 9] })],
    same: { a: 'b' },
  },
  {
    name: 'requested and responding model',
    spans: [aCall('a', { ...OTHER, model: 'gpt-4o-2024-08-06' }), aCall('b', { time: [1, 9] })],
    same: { a: 'b' },
  },
  {
    name: 'a report without a provider or with its framework as provider',
    spans: [
      aCall('a', { ...OTHER, provider: 'Langchain' }),
      aCall('b', { time: [1, 9] }),
      aCall('c', { scope: 'proxy', provider: null, time: [2, 9] }),
    ],
    same: { a: 'c', b: 'c' },
  },
  {
    name: 'parallel calls, each reported twice',
    spans: [
      aCall('a1', { ...OTHER, time: [0, 10] }),
      aCall('a2', { ...OTHER, time: [1, 12] }),
      aCall('b1', { time: [2, 9] }),
      aCall('b2', { time: [3, 11] }),
    ],
    same: { a1: 'b1', a2: 'b2' },
  },
  {
    name: 'a call above two sequential calls duplicates the first',
    spans: [
      aCall('a', { ...OTHER, time: [0, 20] }),
      aCall('b', { parent: 'a', time: [1, 9] }),
      aCall('c', { parent: 'a', time: [10, 19] }),
    ],
    same: { a: 'b' },
  },
  { name: 'one scope makes the same call in parallel', spans: [aCall('a'), aCall('b')], same: {} },
  {
    name: 'different ids',
    spans: [aCall('a', { ...OTHER, response: 'one' }), aCall('b', { response: 'two' })],
    same: {},
  },
  {
    name: 'sequential calls',
    spans: [aCall('a', { ...OTHER, time: [0, 10] }), aCall('b', { time: [10, 20] })],
    same: {},
  },
  {
    name: 'sequential calls with one constant response id',
    spans: [
      aCall('a', { ...OTHER, response: 'x', time: [0, 10] }),
      aCall('b', { response: 'x', time: [10, 20] }),
    ],
    same: {},
  },
  { name: 'different models', spans: [aCall('a', { ...OTHER, model: 'o1' }), aCall('b')], same: {} },
  {
    name: 'no models',
    spans: [aCall('a', { ...OTHER, model: null }), aCall('b', { model: null })],
    same: {},
  },
  {
    name: 'different providers',
    spans: [aCall('a', { ...OTHER, provider: 'azure' }), aCall('b')],
    same: {},
  },
  {
    name: 'different positions without an id',
    spans: [aCall('a', { ...OTHER, parent: 'chain' }), aCall('b')],
    same: {},
  },
  {
    name: 'a cycle of calls terminates',
    spans: [aCall('a', { ...OTHER, parent: 'b' }), aCall('b', { parent: 'a', time: [1, 9] })],
    same: { a: 'b' },
  },
];

for (const { name, spans, same: expected } of CASES) {
  void t.test(name, async (t) => {
    t.same(sames(...spans), expected);
    t.same(sames(...spans.toReversed()), expected, 'in any order');
  });
}

void t.test('tokens and cost are judged separately', async (t) => {
  const tokens = aCall('tokens', { time: [1, 9], cost: null });
  const cost = aCall('cost', { ...OTHER, tokens: null });
  const { usage, counts } = countedOnce([AGENT, tokens, cost]);
  t.same(usage, { total_tokens: 5, total_cost_usd: 7 });
  t.match(counts.get('cost'), { same_as: 'tokens', counted: COUNTS.cost });
  t.match(counts.get('tokens'), { same_as: null, counted: COUNTS.call });
});

void t.test('a call below others takes precedence, and nothing is lost', async (t) => {
  const above = aCall('above', { ...OTHER, time: [0, 20], tokens: 11, cost: null });
  const first = aCall('first', { parent: 'above', time: [1, 9], tokens: 5, cost: null });
  const again = aCall('again', { parent: 'above', time: [10, 19], tokens: 6, cost: null });
  t.same(countedOnce([AGENT, above, first, again]).usage, { total_tokens: 11, total_cost_usd: null });
  t.same(
    countedOnce([AGENT, { ...above, total_tokens: 12 }, first, again]).usage,
    { total_tokens: 12, total_cost_usd: null },
    'the larger report around it counts',
  );
  const beside = aCall('beside', { time: [2, 19], tokens: 20, cost: null });
  t.same(
    countedOnce([AGENT, { ...above, total_tokens: 12 }, beside]).usage,
    { total_tokens: 20, total_cost_usd: null },
    'the larger report counts',
  );
});

const key = (n: number): string => String.fromCharCode(1 + (n % 7), 2, 3, 4, 5, 6, 7, n);

for (const { count, isJudged } of [
  { count: MAX_REPORTERS / 2, isJudged: true },
  { count: MAX_REPORTERS / 2 + 1, isJudged: false },
]) {
  void t.test(
    `${count} simultaneous calls with two duplicates each are ${isJudged ? '' : 'not '}judged`,
    async (t) => {
      const spans = Array.from({ length: count }, (_, n) => [
        aCall(key(n * 2), { ...OTHER, time: [n, 2000], parent: key(9999) }),
        aCall(key(n * 2 + 1), { time: [n, 1999], parent: key(9999) }),
      ]).flat();
      // Earlier and later calls do not overlap with them.
      const [early, late] = [-10, 3000].map((at, i) => [
        aCall(key(8000 + i), { ...OTHER, time: [at, at + 5], parent: key(9999) }),
        aCall(key(8010 + i), { time: [at + 1, at + 4], parent: key(9999) }),
      ]);
      const all = [...spans, ...(early ?? []), ...(late ?? [])];
      const { counts } = countedOnce(all);
      t.equal(counts.size, (isJudged ? count : 0) + 2);
      t.same(countedOnce(all.toReversed()).counts, counts);
    },
  );
}

void t.test('results do not depend on span order, and each duplicate has a counted span', async (t) => {
  const call = fc.record({
    call_key: fc.option(callKeys, { nil: null, freq: 9 }),
    parent: fc.nat(30),
    start: fc.nat(60),
    length: fc.option(fc.nat(6), { nil: null, freq: 9 }),
    total_tokens: fc.option(fc.nat(9), { nil: null, freq: 3 }),
    cost_usd: fc.option(fc.nat(9), { nil: null, freq: 3 }),
  });
  const property = fc.property(fc.array(call, { minLength: 30, maxLength: 60 }), (made) => {
    const spans = made.map(({ parent, start, length, ...measures }, n): UsageNode => {
      const ended_at = length === null ? null : start + length;
      return {
        ...measures,
        type: measures.call_key === null ? TYPE_CODES.agent : TYPE_CODES.llm,
        span_id: key(n),
        parent_span_id: key(parent),
        started_at: start,
        ended_at,
      };
    });
    const { counts, usage } = countedOnce(spans);
    const reversed = countedOnce(spans.toReversed());
    same(reversed.usage, usage);
    same(new Map([...reversed.counts].sort()), new Map([...counts].sort()));
    for (const { same_as } of counts.values())
      if (same_as !== null) same(counts.get(same_as)?.same_as ?? null, null);
  });
  holds(t, property, { numRuns: 500 });
});
