import type { Connection } from '../files/connection.js';

/** Does some work on the cold file as a whole, or nothing of it. */
export async function inTransaction(connection: Connection, work: () => Promise<void>): Promise<void> {
  await connection.run('BEGIN');
  try {
    await work();
    await connection.run('COMMIT');
  } catch (error) {
    await connection.run('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
