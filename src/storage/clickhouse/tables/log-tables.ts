import { LOG_WIRE } from '../../log-tables.js';
import { DAY, TIME_COLUMN } from './days.js';
import { ORIGIN } from './printed-origins.js';
import { columnsOfKinds, type ClickHouseTable } from './table.js';

/** Log records: what every engine has of them, their origins, and their words. */
export const LOGS: ClickHouseTable = {
  name: 'logs',
  columns: [
    { name: 'tenant', type: 'UInt32' },
    DAY,
    ...columnsOfKinds(
      // Its tokens are in `words`.
      LOG_WIRE.filter(({ name }) => name !== 'normal'),
      {
        timestamp: 'Int64 CODEC(DoubleDelta, ZSTD(1))',
        observed_at: 'Nullable(Int64) CODEC(DoubleDelta, ZSTD(1))',
        severity_text: 'LowCardinality(String)',
        service_name: 'LowCardinality(String)',
        event_name: 'LowCardinality(Nullable(String))',
        body: 'Nullable(String) CODEC(ZSTD(1))',
        attributes: 'Nullable(String) CODEC(ZSTD(1))',
      },
    ),
    ORIGIN,
    /** The tokens of the body in their order, with a space between them: what the index is about, and what phrases are looked for in. */
    { name: 'words', type: 'String CODEC(ZSTD(1))' },
  ],
  made: [TIME_COLUMN],
  partition: 'day',
  // As numbers, because UUIDs are compared by their second halves.
  order: 'tenant, timestamp, toUInt128(id)',
  indexes: [
    "by_word words TYPE text(tokenizer = splitByString([' ']))",
    'by_id id TYPE bloom_filter(0.01) GRANULARITY 1',
    'by_trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1',
  ],
};
