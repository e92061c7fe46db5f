import type { Transaction } from 'kysely';
import type { Tables } from './tables.js';

/**
 * The counters: users, prompts, agents and writes for telemetry, tickets of writes, changes of keys, events in their log, changes of
 * alert rules, claims of notices, changes of logins and of views, entries of the audit log.
 */
export type Counter =
  | 'tenant'
  | 'key'
  | 'prompt'
  | 'agent'
  | 'write'
  | 'ticket'
  | 'event'
  | 'rule'
  | 'notice'
  | 'login'
  | 'view'
  | 'audit';

/**
 * Assigns new numbers. Other transactions that use the counter wait for the end of this one, so that numbers increase with the commits;
 * a rollback releases them.
 *
 * @returns the last of them
 */
export async function nextNumbers(tx: Transaction<Tables>, name: Counter, count: number): Promise<number> {
  const { last } = await tx
    .updateTable('counters')
    .set((row) => ({ last: row('last', '+', count) }))
    .where('name', '=', name)
    .returning('last')
    .executeTakeFirstOrThrow();
  return last;
}
