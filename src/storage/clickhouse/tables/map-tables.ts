import type { ClickHouseTable } from './table.js';

/**
 * Cached contributions of a day's runs to the service map, for reads of long ranges (`queries/map-days.ts`). Derived from the rows of runs,
 * so it may be deleted at any time.
 */
export const MAP_DAYS: ClickHouseTable = {
  name: 'map_days',
  columns: [
    { name: 'tenant', type: 'UInt32' },
    { name: 'day', type: 'Int32' },
    /** Fingerprint of the rows that it was computed from. */
    { name: 'print', type: 'UInt64' },
    { name: 'made_at', type: 'Int64' },
    { name: 'hours', type: 'Array(Tuple(hour Int32, spans UInt64, errors UInt64)) CODEC(ZSTD(1))' },
    {
      name: 'nodes',
      type: 'Array(Tuple(name String, type UInt8, grade UInt32, spans UInt64)) CODEC(ZSTD(1))',
    },
    {
      name: 'edges',
      type: 'Array(Tuple(source String, target String, grade UInt32, spans UInt64)) CODEC(ZSTD(1))',
    },
  ],
  family: 'Replacing',
  replacing: 'made_at',
  // 30 days each, named by the last day.
  partition: 'intDiv(day, 30) * 30 + 29',
  order: 'tenant, day',
};
