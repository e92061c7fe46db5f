import type { Micros } from '../../../signal/time.js';
import { PENDING_KEPT_FOR } from '../../shared/pending-links.js';
import type { Prompts } from '../../contracts/prompts.js';
import { placeOf, type Connection } from '../client/connection.js';
import { quotedUuid } from '../client/literals.js';
import type { Reads } from '../client/reads.js';
import { MESSAGES } from '../tables/run-tables.js';
import { onCluster, type TablePlace } from '../tables/table.js';

/** Traces in the condition of one statement. */
const TRACES_A_STATEMENT = 1000;

/** The number of a user's links whose traces are not stored. */
export async function countPending(reads: Reads, tenant: number): Promise<number> {
  const [counted] = await reads.rows(
    `SELECT count() AS links FROM ${pendingLinks(`tenant = ${String(tenant)}`)}`,
  );
  return Number(counted?.links ?? 0);
}

/** Removes links of deleted prompt versions and links whose traces did not arrive in time. Safe to run concurrently. */
export async function removeLinks(
  connection: Connection,
  place: TablePlace,
  prompts: Pick<Prompts, 'findDeleted'>,
  now: Micros,
): Promise<void> {
  const remove = async (where: string): Promise<void> => {
    await connection.command(
      `DELETE FROM ${placeOf(place.database, MESSAGES.name)}${onCluster(place)} WHERE kind = 'link' AND ${where}`,
    );
  };
  const linked = await connection.rows(
    `SELECT DISTINCT toUInt64(prompt) AS prompt FROM ${MESSAGES.name} WHERE kind = 'link'`,
  );
  const deleted = await prompts.findDeleted(linked.map(({ prompt }) => Number(prompt)));
  if (deleted.length > 0) await remove(`prompt IN (${deleted.join(', ')})`);
  const before = now - PENDING_KEPT_FOR;
  const old = await connection.rows(
    `SELECT DISTINCT tenant, trace_id FROM ${pendingLinks(`received_at < ${String(before)}`)}`,
  );
  for (let start = 0; start < old.length; start += TRACES_A_STATEMENT) {
    const traces = old
      .slice(start, start + TRACES_A_STATEMENT)
      .map(({ tenant, trace_id }) => `(${String(Number(tenant))}, ${quotedUuid(String(trace_id))})`);
    await remove(`received_at < ${String(before)} AND (tenant, trace_id) IN (${traces.join(', ')})`);
  }
}

/** Links whose traces are not stored. @param where SQL condition for links */
function pendingLinks(where: string): string {
  const links = `SELECT tenant, trace_id FROM ${MESSAGES.name} WHERE kind = 'link' AND ${where}`;
  return `(${links} AND (tenant, trace_id) NOT IN (SELECT tenant, trace_id FROM ${MESSAGES.name} WHERE kind = 'header' AND (tenant, trace_id) IN (${links})))`;
}
