import type { ClickHouseTable } from './table.js';

/**
 * What the runs of a day add to the service map, so that a read of a long time need not look at each of them (`queries/map-days.ts`). It
 * follows from the rows of runs, and may be removed at any time.
 */
export const MAP_DAYS: ClickHouseTable = {
  name: 'map_days',
  columns: [
    { name: 'tenant', type: 'UInt32' },
    { name: 'day', type: 'Int32' },
    /** Of the rows that it was made of. */
    { name: 'print', type: 'UInt64' },
    { name: 'made_at', type: 'Int64' },
    { name: 'hours', type: 'Array(Tuple(hour Int32, spans UInt64, errors UInt64)) CODEC(ZSTD(1))' },
    {
      name: 'nodes',
      type: 'Array(Tuple(name String, type UInt8, grade UInt8, spans UInt64)) CODEC(ZSTD(1))',
    },
    {
      name: 'edges',
      type: 'Array(Tuple(source String, target String, grade UInt8, spans UInt64)) CODEC(ZSTD(1))',
    },
  ],
  family: 'Replacing',
  replacing: 'made_at',
  // Thirty days each, by the last of them.
  partition: 'intDiv(day, 30) * 30 + 29',
  order: 'tenant, day',
};
