import { Type, type Static } from 'typebox';
import { describeKey, generateKey } from '../../auth/keys.js';
import { HttpProblem, type Route } from '../../component/http.js';
import { SCOPES } from '../../component/identity.js';
import type { Operation } from '../../component/operation.js';
import { uuidV7 } from '../../signal/ids.js';
import { formatTime, parseTime, type Micros } from '../../signal/time.js';
import type { ApiKey, StoredKey } from '../../storage/accounts.js';
import type { ApiContext } from '../support/api-context.js';
import { lastAdmin } from '../support/conflict.js';
import { nullable, printTime, time, uuid } from '../support/fields.js';
import { longArray } from '../support/long-body.js';
import { notFound } from '../support/not-found.js';

const keyFields = {
  id: uuid(),
  user_id: uuid(),
  name: Type.String(),
  prefix: Type.String({ description: 'The first 11 characters of the key.' }),
  scopes: Type.Array(Type.Enum(SCOPES)),
  created_at: time(),
  expires_at: nullable(time()),
  revoked_at: nullable(time()),
  last_used_at: nullable(time('Written at most once a minute.')),
};

export const keySchema = Type.Object(keyFields, { title: 'ApiKey' });

export const createdKeySchema = Type.Object(
  { ...keyFields, key: Type.String({ description: 'The key itself. It is not stored: keep it now.' }) },
  { title: 'CreatedApiKey' },
);

export type KeyJson = Static<typeof keySchema>;

export const listKeys = {
  id: 'listKeys',
  method: 'GET',
  path: '/api/v1/admin/keys',
  tag: 'administration',
  summary: 'All API keys, including ended ones of the last 90 days, the oldest first',
  access: 'admin',
  query: Type.Object({ user_id: Type.Optional(uuid('Only the keys of this user.')) }),
  responses: { 200: Type.Array(keySchema) },
} satisfies Operation;

export const createKey = {
  id: 'createKey',
  method: 'POST',
  path: '/api/v1/admin/keys',
  tag: 'administration',
  summary: 'Create an API key; only the answer ever shows it',
  access: 'admin',
  body: Type.Object(
    {
      user_id: Type.Optional(uuid('Whose data the key reads and writes. Absent: the caller.')),
      name: Type.String({ minLength: 1, maxLength: 200, format: 'name' }),
      scopes: Type.Array(Type.Enum(SCOPES), { minItems: 1, uniqueItems: true }),
      expires_at: Type.Optional(time('In the future. Absent: never.')),
    },
    { title: 'NewApiKey', additionalProperties: false },
  ),
  responses: { 201: createdKeySchema },
  errors: [404],
} satisfies Operation;

export const revokeKey = {
  id: 'revokeKey',
  method: 'DELETE',
  path: '/api/v1/admin/keys/{key_id}',
  tag: 'administration',
  summary: 'Revoke an API key, at once and for good',
  description:
    'The last `admin` key that does not expire, of a user that is not disabled, cannot be revoked, which is a conflict: nobody could administer any more.',
  access: 'admin',
  params: Type.Object({ key_id: uuid() }),
  responses: { 204: null },
  errors: [404, 409],
} satisfies Operation;

/** The routes under `/admin/keys`. */
export function keyRoutes({ routes, control, settleKeys, audit, clock }: ApiContext): readonly Route[] {
  const { accounts } = control;
  return [
    routes.route(listKeys).to(async ({ query }) => {
      const keys = [...(await accounts.listKeys(query.user_id))].sort((a, b) => (a.id < b.id ? -1 : 1));
      return { status: 200, encoded: await longArray(keys, printKey) };
    }),
    routes.route(createKey).to(async ({ body, ...by }) => {
      const now = clock.now();
      const userId = body.user_id?.toLowerCase() ?? by.identity.userId;
      const expiresAt = readExpiry(body.expires_at, now);
      const { text, key } = newKey(now, { ...body, user_id: userId, expires_at: expiresAt });
      const isMade = await accounts.createKey(key);
      if (!isMade) throw notFound('user');
      const { id: key_id, user_id, scopes, expires_at } = printKey(key);
      audit(by, 'key.created', { key_id, user_id, scopes, expires_at });
      await settleKeys();
      return { status: 201, json: { ...printKey(key), key: text } };
    }),
    routes.route(revokeKey).to(async ({ params, ...by }) => {
      const outcome = await accounts.revokeKey(params.key_id, clock.now());
      if (outcome === 'unknown') throw notFound('API key');
      if (outcome === 'last_admin') throw lastAdmin('This is');
      audit(by, 'key.revoked', { key_id: params.key_id });
      await settleKeys();
      return { status: 204 };
    }),
  ];
}

/** A key that was never used, and its text. */
export function newKey(
  now: Micros,
  { user_id, name, scopes, expires_at }: Pick<ApiKey, 'user_id' | 'name' | 'scopes' | 'expires_at'>,
): { readonly text: string; readonly key: StoredKey } {
  const text = generateKey();
  const id = uuidV7(Math.floor(now / 1000));
  const unused = { created_at: now, revoked_at: null, last_used_at: null };
  return { text, key: { id, user_id, name, ...describeKey(text), scopes, expires_at, ...unused } };
}

/** @throws HttpProblem 422 where it is over */
export function readExpiry(text: string | undefined, now: Micros): Micros | null {
  const at = text === undefined ? null : (parseTime(text) ?? null);
  if (at !== null && at <= now)
    throw new HttpProblem(422, 'validation_failed', 'The key would have expired already.', {
      errors: [{ field: '/expires_at', message: 'must be in the future' }],
    });
  return at;
}

export function printKey(key: ApiKey): KeyJson {
  return {
    id: key.id,
    user_id: key.user_id,
    name: key.name,
    prefix: key.prefix,
    scopes: [...key.scopes],
    created_at: formatTime(key.created_at),
    expires_at: printTime(key.expires_at),
    revoked_at: printTime(key.revoked_at),
    last_used_at: printTime(key.last_used_at),
  };
}
