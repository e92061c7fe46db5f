import t, { type Test } from 'tap';
import type { JsonObject } from '../../src/signal/attributes.js';
import type { FieldCondition, RunFilter, ValueField } from '../../src/storage/contracts/runs.js';
import { aHeader, DAY, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const RECEIVED = { receivedAt: NOON };
const PAGE = { offset: 0, limit: 100 };

const METADATA: readonly (JsonObject | null)[] = [
  { plan: 'Pro', tags: ['a', 'b'], user_id: 'ada', session_id: 's1' },
  { plan: 'pro-plus', 'a/b~c': 'O\'Neil "x"', user_id: 'ada' },
  { plan: 42, nested: { deep: [1, 'two'] }, tags: ['b'], user_id: 'Adam' },
  { plan: null, on: true },
  null,
];

function runs() {
  return METADATA.map((metadata, i) =>
    aHeader({
      metadata,
      environment: ['prod', 'Production', null, 'staging', "it's"][i] ?? null,
      status: i === 1 ? 'failed' : 'completed',
      started_at: NOON + i * 1000,
      duration_ms: i * 100,
    }),
  );
}

/** Conditions, and the numbers of the runs that meet them. */
const CASES: readonly (readonly [
  FieldCondition['field'],
  FieldCondition['test'],
  string,
  readonly number[],
])[] = [
  ['environment', 'is', 'prod', [0]],
  ['environment', 'is_not', 'prod', [1, 2, 3, 4]],
  ['environment', 'contains', 'PROD', [0, 1]],
  ['environment', 'contains', "'s", [4]],
  ['environment', 'contains', '%', []],
  ['release', 'is_not', 'v1', [0, 1, 2, 3, 4]],
  ['metadata.plan', 'is', 'Pro', [0]],
  ['metadata.plan', 'is', '42', [2]],
  ['metadata.plan', 'is', 'null', []],
  ['metadata.plan', 'is_not', 'Pro', [1, 2, 3, 4]],
  ['metadata.plan', 'contains', 'pRo', [0, 1]],
  ['metadata.on', 'is', 'true', [3]],
  ['metadata.a/b~c', 'is', 'O\'Neil "x"', [1]],
  ['metadata.nested', 'is', '{"deep":[1,"two"]}', [2]],
  ['metadata.missing', 'contains', 'x', []],
];

const VALUES: readonly (readonly [ValueField, string | undefined, readonly (readonly [string, number])[]])[] =
  [
    [
      'environment',
      'prod',
      [
        ['Production', 1],
        ['prod', 1],
      ],
    ],
    [
      'user_id',
      undefined,
      [
        ['ada', 2],
        ['Adam', 1],
      ],
    ],
    ['user_id', 'DAM', [['Adam', 1]]],
    ['session_id', undefined, [['s1', 1]]],
    [
      'tag',
      undefined,
      [
        ['b', 2],
        ['a', 1],
      ],
    ],
    [
      'metadata.plan',
      undefined,
      [
        ['42', 1],
        ['Pro', 1],
        ['pro-plus', 1],
      ],
    ],
    [
      'metadata',
      'n',
      [
        ['plan', 4],
        ['session_id', 1],
        ['nested', 1],
        ['on', 1],
      ],
    ],
    ['release', undefined, []],
  ];

function checkFilters(t: Test, open: OpenTelemetry): void {
  void t.test(
    'lists, counts, searches and draws the runs that meet conditions; suggests values',
    async (t) => {
      const opened = await open(t, { fileRows: 2 });
      const user = await opened.addUser();
      const other = await opened.addUser();
      const all = runs();
      for (const trace of all)
        await opened.store.writer.traces({ tenant: user, items: [{ trace, spans: [] }] }, RECEIVED);
      const { store } = opened;
      for (const state of ['hot', 'moved']) {
        for (const [field, test, value, expected] of CASES) {
          const filter: RunFilter = { where: [{ field, test, value }] };
          const name = `${state}: ${field} ${test} ${value}`;
          const { items, count } = await store.runs.list(user, filter, PAGE);
          const ids = expected.map((i) => all[i]?.trace_id).reverse();
          t.strictSame(
            items.map(({ trace_id }) => trace_id),
            ids,
            name,
          );
          t.equal(count, expected.length, name);
          const { total } = await store.series.read(user, {
            start_time: NOON - DAY,
            end_time: NOON + DAY,
            interval: DAY,
            filter,
          });
          t.equal(total.runs, expected.length, name);
          const search = { ...filter, query: 'researcher' };
          const found = await store.runs.search(user, search, { after: null, limit: 100, withinMs: 60_000 });
          t.strictSame(
            found.items.map(({ trace_id }) => trace_id),
            ids,
            name,
          );
        }
        const filter: RunFilter = { status: 'completed', min_duration_ms: 200, user_id: 'Adam' };
        const request = { start_time: NOON - DAY, end_time: NOON + DAY, interval: DAY, filter };
        const { total, groups } = await store.series.read(user, { ...request, group_by: 'status' });
        t.equal(total.runs, 1);
        t.strictSame(
          groups.map(({ status }) => status),
          ['completed'],
        );
        for (const [field, contains, expected] of VALUES) {
          const wanted = { field, filter: {}, limit: 10, ...(contains !== undefined && { contains }) };
          const values = await store.runs.values(user, wanted);
          t.strictSame(
            values.map(({ value, runs }) => [value, runs]).toSorted(),
            expected.toSorted(),
            `${state}: ${field}`,
          );
          t.strictSame(
            values.map(({ runs }) => runs),
            expected.map(([, runs]) => runs),
            'frequent ones first',
          );
          t.strictSame(await store.runs.values(other, wanted), []);
        }
        const few = await store.runs.values(user, { field: 'tag', filter: { status: 'failed' }, limit: 1 });
        t.strictSame(few, []);
        await opened.settled();
      }
    },
  );
}

await onEveryTelemetry(t, checkFilters);
