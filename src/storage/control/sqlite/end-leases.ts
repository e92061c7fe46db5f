import type { Kysely } from 'kysely';
import type { Tables } from '../tables.js';

/** Long ago, and not 0, which says that nobody has it. */
const OVER = 1;

/**
 * Ends what processes of before had taken on. The file is one process's: whoever held a lease or a claim has ended, so that nobody need
 * wait for its time. Attempts under way are found interrupted by the next who claims.
 */
export async function endLeases(kysely: Kysely<Tables>): Promise<void> {
  await kysely.transaction().execute(async (tx) => {
    await tx.updateTable('leases').set({ expires_at: OVER }).where('expires_at', '>', OVER).execute();
    await tx
      .updateTable('waiting_deliveries')
      .set({ expires_at: OVER })
      .where('expires_at', 'is not', null)
      .execute();
    await tx
      .updateTable('alert_notices')
      .set({ claimed_until: OVER })
      .where('claimed_until', '>', OVER)
      .execute();
  });
}
