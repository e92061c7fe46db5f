import { ROW_BYTES } from '../../contracts/telemetry-writer.js';
import type { TenantBytes } from '../../shared/measured-bytes.js';
import type { Reads } from '../client/reads.js';
import { LOGS } from '../tables/log-tables.js';
import { POINTS } from '../tables/metric-tables.js';
import { SCORES } from '../tables/score-tables.js';
import { MESSAGES, SPANS } from '../tables/run-tables.js';

const ROWS = [
  [SPANS, ROW_BYTES.span],
  [MESSAGES, ROW_BYTES.run],
  [POINTS, ROW_BYTES.point],
  [LOGS, ROW_BYTES.log],
  [SCORES, ROW_BYTES.score],
] as const;

/** Uncompressed bytes of telemetry by tenant. Derived rows (`runs`, views) do not count. */
export async function readStoredBytes(reads: Pick<Reads, 'rows'>): Promise<TenantBytes> {
  const parts = ROWS.map(
    ([{ name }, own]) =>
      `SELECT tenant, sum(bytes) + ${String(own)} * count() AS stored FROM ${name} GROUP BY tenant`,
  );
  const rows = await reads.rows(
    `SELECT tenant, sum(stored) AS stored FROM (${parts.join(' UNION ALL ')}) GROUP BY tenant`,
  );
  return new Map(rows.map(({ tenant, stored }) => [Number(tenant), Number(stored)]));
}
