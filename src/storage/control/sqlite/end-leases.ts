import type { DatabaseSyncInstance } from '@photostructure/sqlite';

/** A time long ago. Not 0, which says that nobody has it. */
const OVER = '1';

/**
 * Ends the leases and claims of earlier processes. The file belongs to one process at a time: whoever held a lease or a claim has
 * ended, so nobody has to wait for it to expire. The next one who claims finds their attempts interrupted. Writes nothing where
 * there is none to end.
 */
export function endLeases(file: DatabaseSyncInstance): void {
  file.exec('begin immediate');
  try {
    file.exec(`update leases set expires_at = ${OVER} where expires_at > ${OVER}`);
    file.exec(`update waiting_deliveries set expires_at = ${OVER} where expires_at is not null`);
    file.exec(`update alert_notices set claimed_until = ${OVER} where claimed_until > ${OVER}`);
    file.exec(`update writes set expires_at = ${OVER} where ended_at is null and expires_at > ${OVER}`);
    file.exec('commit');
  } catch (error) {
    try {
      file.exec('rollback');
    } catch {
      // A full disk has rolled it back already.
    }
    throw error;
  }
}
