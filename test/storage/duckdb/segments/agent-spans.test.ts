import t from 'tap';
import type { SpanFilter } from '../../../../src/storage/contracts/runs.js';
import { aSpanRecord, aTrace, NOON } from '../../../support/run-records.js';
import { inColdFile, wrongSumsIn } from '../stored-rows.js';
import { TestStore } from '../test-store.js';

t.setTimeout(0);

void t.test('finds runs by span name beyond the limit of distinct spans per agent', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 1, bytes: 1e9 } });
  const tenant = await opened.addUser();
  const write = async (agent: string, names: readonly string[]): Promise<string> => {
    const run = aTrace(0, { agent });
    const spans = names.map((name) => aSpanRecord(run.trace.trace_id, { name, type: 'tool' }));
    await opened.store.writer.traces({ tenant, items: [{ ...run, spans }] }, { receivedAt: NOON });
    await opened.store.settled();
    return run.trace.trace_id;
  };
  const numbered = (first: number): string[] =>
    Array.from({ length: 200 }, (_, i) => `step ${String(first + i)}`);
  const small = await write('few', ['search', 'search', 'fetch']);
  const once = await write('numbered', numbered(0));
  const kinds = async (): Promise<unknown> => {
    await opened.close();
    t.same(await wrongSumsIn(opened.path), []);
    const rows = await inColdFile(
      opened.path,
      'SELECT count(*)::INTEGER AS kinds, bool_or(type IS NULL) AS are_all FROM agent_spans GROUP BY agent_no ORDER BY agent_no',
    );
    await opened.start();
    return rows;
  };
  const found = async (span: SpanFilter): Promise<string[]> => {
    const page = await opened.store.runs.follow(tenant, { span }, { after: null, limit: 9 });
    return page.items.map(({ trace_id }) => trace_id).sort();
  };
  const [ofKept, all] = [
    { kinds: 2, are_all: false },
    { kinds: 1, are_all: true },
  ];
  t.same(await kinds(), [ofKept, { kinds: 200, are_all: false }]);
  t.strictSame(await found({ name: 'step 7' }), [once]);

  const twice = await write('numbered', numbered(150));
  t.same(await kinds(), [ofKept, all], 'one row for all');
  t.strictSame(await found({ name: 'step 7' }), [once]);
  t.strictSame(await found({ name: 'step 160' }), [once, twice].sort());
  t.strictSame(await found({ name: 'fetch', type: 'tool' }), [small]);
  t.strictSame(await found({ name: 'fetch', type: 'http' }), []);

  const later = await write('numbered', ['something else']);
  t.same(await kinds(), [ofKept, all], 'no more are recorded');
  t.strictSame(await found({ name: 'something else' }), [later]);
});
