import t from 'tap';
import { aTrace, NOON } from '../support/run-records.js';
import { inColdFile, inFile } from './stored-rows.js';
import { TestStore } from './test-store.js';

const RECEIVED = { receivedAt: NOON };
const PAGE = { offset: 0, limit: 100 };
/** Each makes a list fail that comes upon it, or the start itself. */
const DAMAGE = [
  "started_at = 'infinity'",
  "ended_at = '-infinity'",
  'total_cost_usd = 9223372036854775807',
  'total_tokens = -9223372036854775808',
  "duration_ms = 'NaN'",
  "heard_at = '290000-01-01'",
] as const;

void t.test('rows with values that cannot be used are set aside at the start, which goes on', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const write = async (count: number): Promise<string[]> => {
    const items = Array.from({ length: count }, () => aTrace(1));
    await opened.store.writeTraces({ tenant, items }, RECEIVED);
    return items.map(({ trace }) => trace.trace_id);
  };
  const moved = await write(40);
  await write(40);
  await opened.store.settled();
  const hot = await write(10);
  await opened.close();
  for (const [i, change] of DAMAGE.entries()) {
    const id = moved[i] ?? '';
    await inColdFile(opened.path, `UPDATE traces SET ${change} WHERE trace_id = '${id}'`);
  }
  const [damagedHot = ''] = hot;
  await inFile(
    opened.path,
    /^hot-/,
    `UPDATE spans SET cost_usd = 9e18::BIGINT WHERE trace_id = '${damagedHot}'`,
  );

  await opened.start();
  const { items, count } = await opened.store.listRuns(tenant, {}, PAGE);
  t.equal(count, 90 - DAMAGE.length);
  t.equal(items.length, 90 - DAMAGE.length);
  t.notOk(items.some(({ trace_id }) => moved.slice(0, DAMAGE.length).includes(trace_id)));
  t.equal((await opened.store.listAgents(tenant))[0]?.total_runs, 90 - DAMAGE.length);
  const report = opened.statuses.at(-1);
  t.match(report, { level: 'degraded', message: /6 of traces.*1 of spans/s });
  t.match(report?.message, opened.path.replace('.duckdb', '.cold.duckdb'));
  t.ok(opened.settings.logger.lines.some((line) => /set aside into the table unusable_rows/.test(line)));
  const [again = ''] = moved;
  await opened.store.writeTraces({ tenant, items: [aTrace(1, { trace_id: again })] }, RECEIVED);
  t.equal((await opened.store.readTrace(tenant, again))?.trace_id, again, 'a run may come again');

  opened.statuses.length = 0;
  await opened.reopen();
  t.strictSame(opened.statuses, [], 'the next start has nothing to tell');
  await opened.close();
  const kept = await inColdFile(
    opened.path,
    'SELECT table_name, content FROM unusable_rows ORDER BY content',
  );
  t.equal(kept.filter(({ table_name }) => table_name === 'traces').length, DAMAGE.length);
  t.ok(kept.every(({ content }) => String(content).includes('tenant')));
});
