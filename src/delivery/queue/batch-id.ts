import { createHash } from 'node:crypto';

/**
 * The name under which a batch is passed on that came with a name: always the same for the same batch, and never that of another
 * user's batch, whatever names users choose.
 */
export function passedOnId(tenant: string, id: string): string {
  return createHash('sha256').update(`${tenant}/${id}`).digest('base64url');
}
