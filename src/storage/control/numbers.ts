import type { Transaction } from 'kysely';
import type { Tables } from './tables.js';

/**
 * What is numbered: users, prompts, agents and writes for telemetry, tickets of writes, changes of keys, events in their log, changes of
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
 * Takes numbers that nobody has. Whoever takes numbers of the same counter waits for the end of this transaction, so that numbers
 * grow with the commits; a transaction that fails gives them back.
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
