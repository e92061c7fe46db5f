import { Connection } from '../../../../src/storage/duckdb/files/connection.js';
import { EventEngine } from '../event-engine.js';

/**
 * A process to be killed: opens the store of its first argument, which compacts hot segments and merges log blocks,
 * and kills itself at the first statement of that merge that starts with its second argument, or right after it.
 */
const [, , path = '', last = ''] = process.argv;

const run = Reflect.get(Connection.prototype, 'run');
let isMerging = false;
Connection.prototype.run = async function (sql, values) {
  await run.call(this, sql, values);
  if (sql.includes('TEMP TABLE merged_logs')) isMerging = true;
  if (isMerging && sql.startsWith(last)) process.kill(process.pid, 'SIGKILL');
};

const none = { testdir: () => '', teardown: () => undefined };
const engine = await EventEngine.open(none, { path, segmentSize: { rows: 100_000, bytes: 1e9 } });
await engine.settle();
