import type { DatabaseSyncInstance } from '@photostructure/sqlite';

/** Long ago, and not 0, which says that nobody has it. */
const OVER = '1';

/**
 * Ends what processes of before had taken on. The file is one process's: whoever held a lease or a claim has ended, so that nobody need
 * wait for its time. Attempts under way are found interrupted by the next who claims. Where none is to be ended, nothing is written.
 */
export function endLeases(file: DatabaseSyncInstance): void {
  file.exec('begin immediate');
  try {
    file.exec(`update leases set expires_at = ${OVER} where expires_at > ${OVER}`);
    file.exec(`update waiting_deliveries set expires_at = ${OVER} where expires_at is not null`);
    file.exec(`update alert_notices set claimed_until = ${OVER} where claimed_until > ${OVER}`);
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
