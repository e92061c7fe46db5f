import type { Transaction } from 'kysely';
import type { ExportedRow, TransferBase } from '../contracts/transfer.js';
import { indexKey } from './index-key.js';
import { nextNumbers } from './numbers.js';
import type { Dialect } from './dialect.js';
import type { Tables } from './tables.js';

/** Each takes at most seven of SQLite's 32,766 parameters per statement. */
const ROWS_A_STATEMENT = 1000;

/** Adds agent names, under new numbers, and items counted by month and day. @param store the identity of the telemetry store */
export async function insertBase(
  tx: Transaction<Tables>,
  dialect: Dialect,
  store: string,
  { agents, usage, batches }: TransferBase,
): Promise<void> {
  const named = [...namedOnce(agents).values()];
  const last = await nextNumbers(tx, 'agent', named.length);
  const rows = named.map((row, i) => ({
    number: last - named.length + i + 1,
    store,
    tenant: Number(row['tenant']),
    id: String(row['id']),
    name: String(row['name']),
    name_key: indexKey(String(row['name'])),
    created_at: row['created_at'] === null ? null : Number(row['created_at']),
  }));
  for (let at = 0; at < rows.length; at += ROWS_A_STATEMENT)
    await tx
      .insertInto('numbered_agents')
      .values(rows.slice(at, at + ROWS_A_STATEMENT))
      .execute();
  const counted = usage.map((row) => ({
    store,
    tenant: Number(row['tenant']),
    period: Number(row['period']),
    settled: Number(row['items']),
  }));
  for (const { period, ...row } of counted)
    if (period >= 0)
      await tx
        .insertInto('usage_months')
        .values({ ...row, month: period, charged: 0 })
        .execute();
    else
      await tx
        .insertInto('usage_days')
        .values({ ...row, day: -period })
        .execute();
  const written = batches.map((row) => ({
    store,
    tenant: Number(row['tenant']),
    name: String(row['batch']),
    // On the clock that decides their age, so they are kept for a day from now.
    noted_at: dialect.now(),
    write_number: null,
    written_at: dialect.now(),
    refused: row['refused'] === null ? '' : String(row['refused']),
  }));
  for (let at = 0; at < written.length; at += ROWS_A_STATEMENT)
    await tx
      .insertInto('named_batches')
      .values(written.slice(at, at + ROWS_A_STATEMENT))
      .execute();
}

/** Merges the rows of each name: the row of an agent takes precedence over that of other runs. */
function namedOnce(agents: readonly ExportedRow[]): ReadonlyMap<string, ExportedRow> {
  const named = new Map<string, ExportedRow>();
  for (const row of agents) {
    const key = `${String(row['tenant'])} ${String(row['name'])}`;
    const known = named.get(key);
    if (known === undefined || known['created_at'] === null) named.set(key, row);
  }
  return named;
}
