import t, { type Test } from 'tap';
import {
  type AuditEntry,
  MAX_AUDIT_ENTRIES,
  MAX_STRANGER_ENTRIES,
} from '../../src/storage/contracts/accounts.js';
import { NOON } from '../support/run-records.js';
import { onEveryControl, type OpenControl } from './control-stores.js';

function someEntries(count: number, entry: Partial<AuditEntry>): readonly AuditEntry[] {
  return Array.from({ length: count }, (_, number) => ({
    at: NOON + number,
    action: 'key.created',
    user_id: 'ann',
    key_id: null,
    address: '192.0.2.7',
    fields: JSON.stringify({ number }),
    ...entry,
  }));
}

function auditSuite(t: Test, open: OpenControl): void {
  void t.test('keeps the newest entries of users regardless of refusals caused by strangers', async (t) => {
    const { store } = await open(t);
    const page = { offset: 0, limit: 1 };
    await store.audit.append(someEntries(MAX_AUDIT_ENTRIES + 5, {}));
    const refused = someEntries(MAX_STRANGER_ENTRIES + 3, { user_id: null, action: 'session_link.refused' });
    await store.audit.append(refused);
    const ofUsers = await store.audit.list({ action: 'key.created' }, page);
    t.match(ofUsers, { count: MAX_AUDIT_ENTRIES, items: [{ fields: '{"number":10004}' }] });
    const oldest = { offset: MAX_AUDIT_ENTRIES - 1, limit: 1 };
    t.match(await store.audit.list({ userId: 'ann' }, oldest), { items: [{ fields: '{"number":5}' }] });
    t.match(await store.audit.list({ action: 'session_link.refused' }, page), {
      count: MAX_STRANGER_ENTRIES,
      items: [{ fields: '{"number":1002}', user_id: null }],
    });
    await store.audit.append(someEntries(1, { action: 'key.revoked' }));
    t.equal((await store.audit.list({ userId: 'ann' }, page)).count, MAX_AUDIT_ENTRIES);
    t.equal((await store.audit.list({ to: NOON + 5 }, page)).count, 3, 'two refusals and the last entry');
  });
}

await onEveryControl(t, auditSuite);
