import { randomBytes, randomUUID } from 'node:crypto';
import type { Organization, StoredKey, User } from '../../../src/storage/contracts/accounts.js';
import type { ChangedBy, PromptVersion } from '../../../src/storage/contracts/prompts.js';
import type { StoredEndpoint } from '../../../src/storage/contracts/deliveries.js';
import { NOON } from '../../support/run-records.js';

export function aUser(changes: Partial<User> = {}): User {
  const id = randomUUID();
  return {
    id,
    email: `${id}@example.org`,
    name: 'somebody',
    monthly_event_limit: null,
    stored_bytes_limit: null,
    disabled: false,
    created_at: NOON,
    ...changes,
  };
}

export function aKey(user: User, changes: Partial<StoredKey> = {}): StoredKey {
  return {
    id: randomUUID(),
    user_id: user.id,
    name: 'a key',
    prefix: 'jd_12345678',
    digest: randomBytes(32).toString('hex'),
    scopes: ['write', 'read'],
    created_at: NOON,
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
    parent_id: null,
    ...changes,
  };
}

export function anOrganization(slug: string, changes: Partial<Organization> = {}): Organization {
  return { id: randomUUID(), slug, name: `the ${slug}`, created_at: NOON, ...changes };
}

export function anEndpoint(changes: Partial<StoredEndpoint> = {}): StoredEndpoint {
  return {
    id: randomUUID(),
    url: 'https://example.com/hook',
    name: 'a hook',
    event_types: ['trace.failed', 'alert.fired'],
    is_active: true,
    consecutive_failures: 0,
    created_at: NOON,
    sealed_secret: `v1:${randomBytes(60).toString('base64')}`,
    ...changes,
  };
}

/** A change without a key. */
export const NOBODY: ChangedBy = { at: NOON, keyId: null };

export function aPrompt(changes: Partial<PromptVersion> = {}): PromptVersion {
  return {
    id: randomUUID(),
    name: 'prompt',
    version: 1,
    type: 'text',
    template_text: 'Answer {question}.',
    description: 'how to answer',
    is_active: true,
    created_at: NOON,
    ...changes,
  };
}
