import { EVENTS } from '../../schema/events-table.js';
import { LOGS } from '../../schema/log-tables.js';
import { PROMPT_LINKS } from '../../schema/prompt-links-table.js';
import { SCORES } from '../../schema/scores-table.js';
import { ROW_BYTES } from '../../contracts/telemetry-writer.js';
import type { TenantBytes } from '../../shared/measured-bytes.js';
import type { Table } from '../../schema/table.js';
import { PAYLOADS, POINTS, SPANS, STORED_TEXTS, TRACES } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';

/** The size of a row of each table: a constant plus the lengths of unbounded texts. */
const BYTES: readonly (readonly [table: Table, bytes: string])[] = [
  [SPANS, `${ROW_BYTES.span} + ${lengthsOf(...STORED_TEXTS)}`],
  [PAYLOADS, 'bytes'],
  [TRACES, `${ROW_BYTES.run} + ${lengthsOf('outcome', 'error_message', 'metadata', 'tags')}`],
  [POINTS, `${ROW_BYTES.point} + strlen(labels) + ${lengthsOf('distribution', 'exemplars')}`],
  [LOGS, `${ROW_BYTES.log} + bytes`],
  [EVENTS, 'bytes'],
  [PROMPT_LINKS, String(ROW_BYTES.link)],
  [SCORES, `${ROW_BYTES.score} + ${lengthsOf('comment', 'metadata')}`],
];

/** Uncompressed bytes of telemetry per tenant. */
export async function readStoredBytes(connection: Connection, capture: Capture): Promise<TenantBytes> {
  const parts = BYTES.map(
    ([table, bytes]) =>
      `SELECT tenant, sum(${bytes}) AS bytes FROM ${relation(capture, table)} GROUP BY tenant`,
  );
  const rows = await connection.rows(
    `SELECT tenant, sum(bytes)::BIGINT AS bytes FROM (${parts.join(' UNION ALL ')}) GROUP BY tenant`,
  );
  return new Map(rows.map(({ tenant, bytes }) => [Number(tenant), Number(bytes)]));
}

function lengthsOf(...columns: readonly string[]): string {
  return columns.map((column) => `coalesce(strlen(${column}), 0)`).join(' + ');
}
