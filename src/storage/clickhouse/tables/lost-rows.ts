import { must } from '../../../signal/checked.js';
import type { Reads } from '../client/reads.js';
import { named, quoted } from '../client/literals.js';
import type { ClickHouseTable, NewRow } from './table.js';

/** By so much a server's own count of seconds may be behind, and more. */
const SLACK_MS = 2000;

/**
 * Those rows of an insert that are not stored although a repeat of it was taken for done: a server without replicas notes an insert's token
 * before its rows are there (`MergeTreeSink`), and forgets the rows where it is killed between the two. So this is only asked of a server
 * that may have been started since, where nothing of the insert is under way any more. Rows of one day are stored together or not at all.
 *
 * @param table one with an `identity`
 * @param begun when the insert was first tried, by `performance.now()`
 */
export async function lostRows(
  reads: Pick<Reads, 'rows'>,
  { name, identity }: ClickHouseTable,
  rows: readonly NewRow[],
  begun: number,
): Promise<readonly NewRow[]> {
  const [server] = await reads.rows('SELECT uptime() AS seconds');
  if (Number(server?.seconds) * 1000 > performance.now() - begun + SLACK_MS) return [];
  const columns = ['day', ...must(identity, 'columns that tell rows apart')];
  const ofEachDay = new Map(rows.map((row) => [row.day, row]));
  const isOneOf = [...ofEachDay.values()].map(
    (row) => `(${columns.map((column) => `${named(column)} = ${literal(row[column])}`).join(' AND ')})`,
  );
  const stored = await reads.rows(`SELECT DISTINCT day FROM ${name} WHERE ${isOneOf.join(' OR ')}`);
  const days = new Set(stored.map((row) => Number(row.day)));
  return rows.filter(({ day }) => !days.has(day));
}

function literal(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (Number.isSafeInteger(value)) return String(value);
  throw new TypeError(`a column that tells rows apart has a ${typeof value}`);
}
