import { ConflictError } from '../../meta-store.js';
import type { MetaConnection } from './meta-connection.js';

/**
 * For names that exist once, in any case. In the transaction under way.
 *
 * @param exceptId of the row that may have the name
 * @throws ConflictError with the column
 */
export async function refuseTaken(
  connection: MetaConnection,
  table: 'users' | 'organizations',
  column: string,
  value: string,
  exceptId?: string,
): Promise<void> {
  const rows = await connection.rows(
    `SELECT id::VARCHAR AS id FROM ${table} WHERE lower(${column}) = lower(?)`,
    [value],
  );
  if (rows.some((row) => row.id !== exceptId)) {
    throw new ConflictError(
      column,
      `${table === 'users' ? 'A user' : 'An organization'} with the ${column} ${value} exists already.`,
    );
  }
}
