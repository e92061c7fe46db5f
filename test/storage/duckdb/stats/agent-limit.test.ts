import { randomUUID } from 'node:crypto';
import t from 'tap';
import { deriveBatch } from '../../../../src/signal/derive-map.js';
import type { SpanRecord } from '../../../../src/signal/span.js';
import type { TraceRecord } from '../../../../src/signal/trace.js';
import { aSpanRecord, aTrace, NOON } from '../../../support/run-records.js';
import { aFollowingRecord } from '../following-records.js';
import { TestStore } from '../test-store.js';

t.setTimeout(0);

void t.test('keeps runs of agents beyond the limit under (other) through later changes', async (t) => {
  const opened = await TestStore.open(t, { maxAgents: 3 });
  const user = await opened.addUser();
  const other = await opened.addUser();
  const write = async (tenant: string, items: TraceRecord[]): Promise<void> => {
    const batch = { tenant, items, service_map: deriveBatch(items) };
    await opened.store.writer.traces(batch, { receivedAt: NOON });
  };
  const listed = async (tenant: string): Promise<[string, number][]> =>
    (await opened.store.agents.list(tenant))
      .map(({ name, total_runs }): [string, number] => [name, total_runs])
      .sort();
  const declared = Array.from({ length: 8 }, (_, i) => aTrace(2, { agent: `agent ${i}`, status: 'running' }));
  await write(user, declared.slice(0, 4));
  for (const trace of declared.slice(4)) await write(user, [trace]);
  // Undeclared: their agent comes from their spans, which arrive one by one.
  const traceId = randomUUID();
  const withHint = (name: string, changes: Partial<SpanRecord> = {}): SpanRecord =>
    aSpanRecord(traceId, { agent_hint: { source: 'service.name', name }, ...changes });
  const root = withHint('session 4711', { type: 'agent' });
  const parts = [
    withHint('session 4712', { parent_span_id: root.span_id }),
    root,
    withHint('session 4711', { parent_span_id: root.span_id }),
  ];
  for (const part of parts) await write(user, [aFollowingRecord([part])]);
  const expected: [string, number][] = [
    ['(other)', 6],
    ['agent 0', 1],
    ['agent 1', 1],
    ['agent 2', 1],
  ];
  t.strictSame(await listed(user), expected);

  await write(other, declared.slice(5, 8));
  t.strictSame(
    await listed(other),
    [
      ['agent 5', 1],
      ['agent 6', 1],
      ['agent 7', 1],
    ],
    'each user has its own limit',
  );

  await opened.reopen();
  // They end after the cache was emptied.
  const ended = declared.map(({ trace, spans }) => ({
    trace: { ...trace, status: 'completed' as const },
    spans,
  }));
  await write(user, ended);
  await write(user, [aFollowingRecord([withHint('session 4713', { parent_span_id: root.span_id })])]);
  t.strictSame(await listed(user), expected);
  const { count } = await opened.store.runs.list(user, { status: 'completed' }, { offset: 0, limit: 1 });
  t.equal(count, 9);
  const found = await opened.store.runs.read(user, declared[7]?.trace.trace_id ?? '');
  t.match(found, { agent_name: '(other)', span_count: 2 });
  t.match(
    await opened.store.map.rebuild({ dryRun: true }),
    { differing_spans: 0, differing_sums: 0 },
    'the map counts them the same way',
  );
  const lines = opened.settings.logger.lines.join('\n');
  t.equal(
    lines.split('reached extensions.duckdb.max_agents').length - 1,
    2,
    'logged once per start and user',
  );

  await opened.reopen({ maxAgents: 100 });
  await write(user, [aTrace(1, { agent: 'agent 7' })]);
  t.strictSame(await listed(user), [...expected, ['agent 7', 1]], 'a higher limit applies to later runs');
});
