import type { Kysely } from 'kysely';
import { RUN_KINDS } from '../../signal/span.js';
import type { ExportedRow, TransferBase } from '../telemetry-transfer.js';
import type { Tables } from './tables.js';

type ReadBase = (db: Kysely<Tables>, store: string) => Promise<readonly ExportedRow[]>;

/** What `insertBase` fills in, read again, as rows of the tables of an export. @param store that of telemetry */
export const BASE_READS: Readonly<Record<keyof TransferBase, ReadBase>> = {
  agents: async (db, store) => {
    const rows = await db
      .selectFrom('numbered_agents')
      .select(['tenant', 'number', 'id', 'name', 'created_at'])
      .where('store', '=', store)
      .orderBy('number')
      .execute();
    // A name has one row here, whatever its runs are.
    return rows.map(({ number, ...row }) => ({ ...row, agent_no: number, kind: RUN_KINDS.indexOf('agent') }));
  },
  usage: async (db, store) => {
    const months = await db
      .selectFrom('usage_months')
      .select(['tenant', 'month as period', 'settled as items'])
      .where('store', '=', store)
      .where('settled', '>', 0)
      .execute();
    const days = await db
      .selectFrom('usage_days')
      .select(['tenant', 'day', 'settled as items'])
      .where('store', '=', store)
      .where('settled', '>', 0)
      .execute();
    return [...months, ...days.map(({ day, ...row }) => ({ ...row, period: -day }))];
  },
  batches: async (db, store) => {
    const rows = await db
      .selectFrom('named_batches')
      .select(['tenant', 'name', 'written_at', 'refused'])
      .where('store', '=', store)
      .where('written_at', 'is not', null)
      .execute();
    return rows.map(({ tenant, name, written_at, refused }) => ({
      tenant,
      batch: name,
      received_at: written_at,
      refused: refused === '' ? null : refused,
    }));
  },
};
