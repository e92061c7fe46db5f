import { join } from 'node:path';
import t from 'tap';
import { Database, MAIN } from '../../../../src/storage/duckdb/files/database.js';
import { HealthIssues } from '../../../../src/storage/duckdb/files/health-issues.js';
import { quarantineUnusable, type CheckedFile } from '../../../../src/storage/duckdb/files/unusable-rows.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { testFolder } from '../../../support/test-folder.js';
import { aTrace, NOON } from '../../../support/run-records.js';
import { inColdFile, inFile, inOneFile } from '../stored-rows.js';
import { TestStore } from '../test-store.js';

const RECEIVED = { receivedAt: NOON };
const PAGE = { offset: 0, limit: 100 };
/** Each breaks the list that reads it, or the startup. */
const DAMAGE = [
  "started_at = 'infinity'",
  "ended_at = '-infinity'",
  'total_cost_usd = 9223372036854775807',
  'total_tokens = -9223372036854775808',
  "duration_ms = 'NaN'",
  "heard_at = '290000-01-01'",
] as const;

void t.test('quarantines unusable rows at startup and continues', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const write = async (count: number): Promise<string[]> => {
    const items = Array.from({ length: count }, () => aTrace(1));
    await opened.store.writer.traces({ tenant, items }, RECEIVED);
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
  const { items, count } = await opened.store.runs.list(tenant, {}, PAGE);
  t.equal(count, 90 - DAMAGE.length);
  t.equal(items.length, 90 - DAMAGE.length);
  t.notOk(items.some(({ trace_id }) => moved.slice(0, DAMAGE.length).includes(trace_id)));
  t.equal((await opened.store.agents.list(tenant))[0]?.total_runs, 90 - DAMAGE.length);
  const report = opened.statuses.at(-1);
  t.match(report, { level: 'degraded', message: /6 of traces.*1 of spans/s });
  t.match(report?.message, opened.path.replace('.duckdb', '.cold.duckdb'));
  t.ok(
    opened.settings.logger.lines.some((line) =>
      /Moved rows with invalid values to the table unusable_rows/.test(line),
    ),
  );
  const [again = ''] = moved;
  await opened.store.writer.traces({ tenant, items: [aTrace(1, { trace_id: again })] }, RECEIVED);
  t.equal((await opened.store.runs.read(tenant, again))?.trace_id, again, 'the run can be received again');

  opened.statuses.length = 0;
  await opened.reopen();
  t.strictSame(opened.statuses, [], 'the next start reports nothing');
  await opened.close();
  const kept = await inColdFile(
    opened.path,
    'SELECT table_name, content FROM unusable_rows ORDER BY content',
  );
  t.equal(kept.filter(({ table_name }) => table_name === 'traces').length, DAMAGE.length);
  t.ok(kept.every(({ content }) => String(content).includes('tenant')));
});

void t.test('quarantines an unusable clock note of the main file', async (t) => {
  const opened = await TestStore.open(t, { traceRetentionDays: 1 });
  await opened.retained(0);
  await opened.close();
  await inOneFile(opened.path, "UPDATE clock_note SET trusted_at = 'infinity'");
  await opened.start({ traceRetentionDays: null });
  t.match(opened.statuses.at(-1), {
    level: 'degraded',
    message: new RegExp(`unusable_rows of ${opened.path}: 1 of clock_note`),
  });
  opened.statuses.length = 0;
  await opened.reopen();
  t.strictSame(opened.statuses, [], 'the next start reports nothing');
  await opened.close();
  const kept = await inOneFile(opened.path, 'SELECT table_name, content FROM unusable_rows');
  t.match(kept, [{ table_name: 'clock_note', content: /infinity/ }]);
});

void t.test('quarantines any number of rows without holding them in memory', async (t) => {
  const ROWS = 5000;
  const path = join(testFolder(t), 'jackdaw.duckdb');
  const database = await Database.open({ path, memoryLimit: '256MiB', threads: 1 });
  t.teardown(() => {
    database.close();
  });
  const connection = await database.connect();
  const of = 'seen';
  await connection.run(`CREATE TABLE ${MAIN}.main.${of} AS
    SELECT i AS id, CASE WHEN i % 2 = 0 THEN 'infinity'::TIMESTAMP ELSE now()::TIMESTAMP END AS seen_at FROM range(${2 * ROWS}) r(i)`);
  await connection.run(`CREATE TABLE ${MAIN}.main.unusable_rows (table_name VARCHAR, content VARCHAR)`);
  let most = 0;
  const rows = connection.rows.bind(connection);
  connection.rows = async (sql, values) => {
    const found = await rows(sql, values);
    most = Math.max(most, found.length);
    return found;
  };
  const logger = new RecordingLogger();
  const healthIssues = new HealthIssues(() => undefined);
  let settled = 0;
  const file: CheckedFile = {
    catalog: MAIN,
    path,
    tables: [{ name: of, columns: [{ name: 'seen_at', sql: 'TIMESTAMP' }] }],
    kept: ({ name }) => ({ table_name: `'${name}'`, content: 'r::VARCHAR' }),
    settle: async () => {
      settled++;
    },
  };
  await quarantineUnusable(connection, file, { logger, healthIssues });
  t.ok(most < 5, `${most} rows at a time`);
  t.match(logger.lines.join('\n'), `${ROWS} of ${of}`);
  const [left] = await rows(`SELECT count(*)::INTEGER AS rows FROM ${MAIN}.main.${of}`);
  t.equal(left?.rows, ROWS);
  await quarantineUnusable(connection, file, { logger, healthIssues });
  t.equal(logger.lines.length, 1, 'no rows are left to quarantine');
  t.equal(settled, 1);
});
