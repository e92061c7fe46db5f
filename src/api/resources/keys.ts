import { Type, type Static } from 'typebox';
import { lacksScope } from '../../auth/scopes.js';
import { describeKey, generateKey } from '../../auth/keys.js';
import { grants } from '../../auth/scopes.js';
import { HttpProblem, type Route } from '../../component/http.js';
import { SCOPES, type Identity, type Scope } from '../../component/identity.js';
import type { Operation } from '../../component/operation.js';
import { uuidV7 } from '../../signal/ids.js';
import { formatTime, parseTime, type Micros } from '../../signal/time.js';
import type { ApiKey, StoredKey } from '../../storage/contracts/accounts.js';
import type { Audit } from '../support/audit.js';
import type { ApiContext } from '../support/api-context.js';
import { lastAdmin } from '../support/conflict.js';
import { nullable, formatNullableTime, time, uuid } from '../support/fields.js';
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
  parent_id: nullable(
    uuid(
      'The key that created it, directly or through a browser session; if that was removed, the key that created that one. Null: unknown, or created offline.',
    ),
  ),
};

/** Field of the bodies that create keys. */
export const confirmField = Type.Optional(
  Type.String({
    maxLength: 200,
    description:
      'An API key of the caller, which then creates the new key. A browser session needs it for a key that would outlive the session.',
  }),
);

/** Query of the routes that revoke a key. */
export const withChildrenQuery = Type.Object({
  with_children: Type.Boolean({
    default: false,
    description: 'Also revokes keys created with it, directly or indirectly.',
  }),
});

export const keySchema = Type.Object(keyFields, { title: 'ApiKey' });

export const createdKeySchema = Type.Object(
  { ...keyFields, key: Type.String({ description: 'The key. It is not stored: save it now.' }) },
  { title: 'CreatedApiKey' },
);

export type KeyJson = Static<typeof keySchema>;

export const listKeys = {
  id: 'listKeys',
  method: 'GET',
  path: '/api/v1/admin/keys',
  tag: 'administration',
  summary: 'List API keys, including expired and revoked ones of the last 90 days, oldest first',
  access: 'admin',
  query: Type.Object({ user_id: Type.Optional(uuid('Only the keys of this user.')) }),
  responses: { 200: Type.Array(keySchema) },
} satisfies Operation;

export const createKey = {
  id: 'createKey',
  method: 'POST',
  path: '/api/v1/admin/keys',
  tag: 'administration',
  summary: 'Create an API key; only this response contains it',
  access: 'admin',
  audit: ['key.created'],
  body: Type.Object(
    {
      user_id: Type.Optional(uuid('User whose data the key accesses. Default: the caller.')),
      name: Type.String({ minLength: 1, maxLength: 200, format: 'name' }),
      scopes: Type.Array(Type.Enum(SCOPES), { minItems: 1, uniqueItems: true }),
      expires_at: Type.Optional(time('In the future. Absent: never.')),
      confirm_with_key: confirmField,
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
  summary: 'Revoke an API key permanently',
  description: 'The last unexpiring `admin` key of an enabled user cannot be revoked (conflict).',
  access: 'admin',
  audit: ['key.revoked'],
  params: Type.Object({ key_id: uuid() }),
  query: withChildrenQuery,
  responses: { 204: null },
  errors: [404, 409],
} satisfies Operation;

/** The routes under `/admin/keys`. */
export function keyRoutes(context: ApiContext): readonly Route[] {
  const { routes, control, refreshKeys, audit, clock } = context;
  const { accounts } = control;
  return [
    routes.route(listKeys).to(async ({ query }) => {
      const keys = [...(await accounts.listKeys(query.user_id))].sort((a, b) => (a.id < b.id ? -1 : 1));
      return { status: 200, encoded: await longArray(keys, serializeKey) };
    }),
    routes.route(createKey).to(async ({ body, ...by }) => {
      const now = clock.now();
      const userId = body.user_id?.toLowerCase() ?? by.identity.userId;
      const expiresAt = readExpiry(body.expires_at, now);
      const maker = makerOf(context, by.identity, { ...body, expiresAt, scope: 'admin' });
      const made = { ...body, user_id: userId, expires_at: expiresAt, parent_id: maker.keyId };
      const { text, key } = newKey(now, made);
      if (!(await accounts.createKey(key)))
        throw (await accounts.findUser(userId)) ? makerRevoked() : notFound('user');
      auditCreated(audit, by, key);
      await refreshKeys();
      return { status: 201, json: { ...serializeKey(key), key: text } };
    }),
    routes.route(revokeKey).to(async ({ params, query, ...by }) => {
      const revoked = await accounts.revokeKey(params.key_id, clock.now(), query.with_children);
      if (revoked === 'unknown') throw notFound('API key');
      if (revoked === 'last_admin') throw lastAdmin('This is');
      for (const key_id of revoked) audit(by, 'key.revoked', { key_id });
      await refreshKeys();
      return { status: 204 };
    }),
  ];
}

/** A key that was never used, and its text. */
export function newKey(
  now: Micros,
  {
    user_id,
    name,
    scopes,
    expires_at,
    parent_id = null,
  }: Pick<ApiKey, 'user_id' | 'name' | 'scopes' | 'expires_at'> & Partial<Pick<ApiKey, 'parent_id'>>,
): { readonly text: string; readonly key: StoredKey } {
  const text = generateKey();
  const id = uuidV7(Math.floor(now / 1000));
  const unused = { created_at: now, revoked_at: null, last_used_at: null, parent_id };
  return { text, key: { id, user_id, name, ...describeKey(text), scopes, expires_at, ...unused } };
}

/**
 * The creator of a key: the sender of the request, or the key that confirms it. Otherwise a stolen session could create a key that
 * outlives it.
 *
 * @param wish `scope`: the scope that the confirming key needs
 * @throws HttpProblem 403 `confirmation_needed`, `forbidden_scope`
 */
export function makerOf(
  { identityNow }: Pick<ApiContext, 'identityNow'>,
  { userId, keyId, scopes, session }: Identity,
  wish: {
    readonly confirm_with_key?: string;
    readonly expiresAt: Micros | null;
    readonly scope: Scope;
  },
): Identity {
  const { confirm_with_key: key, expiresAt } = wish;
  if (key !== undefined) {
    const confirming = identityNow({
      header: (name) => (name === 'authorization' ? `Bearer ${key}` : undefined),
    });
    if (confirming?.userId !== userId)
      throw new HttpProblem(
        403,
        'confirmation_needed',
        'confirm_with_key is not a usable API key of yours: send another one.',
      );
    if (!grants(confirming.scopes, wish.scope)) throw lacksScope(wish.scope);
    return confirming;
  }
  if (session !== undefined && (expiresAt === null || expiresAt > session.expiresAt))
    throw new HttpProblem(
      403,
      'confirmation_needed',
      `The key would outlive this browser session, which ends at ${formatTime(session.expiresAt)}: send an API key of yours as confirm_with_key, or set expires_at to no later than that.`,
    );
  return { userId, keyId, scopes };
}

/** Names the parent if it is not the key of the request. */
export function auditCreated(audit: Audit, by: Parameters<Audit>[0], key: ApiKey): void {
  const { id: key_id, user_id, scopes, expires_at, parent_id } = serializeKey(key);
  const confirmed = parent_id === by.identity?.keyId ? {} : { parent_id };
  audit(by, 'key.created', { key_id, user_id, scopes, expires_at, ...confirmed });
}

/** The key of a request was revoked while the request made another one. */
export function makerRevoked(): HttpProblem {
  return new HttpProblem(
    401,
    'unauthenticated',
    'The key used for this request was revoked: use another key.',
  );
}

/** @throws HttpProblem 422 if the time is in the past */
export function readExpiry(text: string | undefined, now: Micros): Micros | null {
  const at = text === undefined ? null : (parseTime(text) ?? null);
  if (at !== null && at <= now)
    throw new HttpProblem(422, 'validation_failed', 'expires_at is in the past: choose a later time.', {
      errors: [{ field: '/expires_at', message: 'must be in the future' }],
    });
  return at;
}

export function serializeKey(key: ApiKey): KeyJson {
  return {
    id: key.id,
    user_id: key.user_id,
    name: key.name,
    prefix: key.prefix,
    scopes: [...key.scopes],
    created_at: formatTime(key.created_at),
    expires_at: formatNullableTime(key.expires_at),
    revoked_at: formatNullableTime(key.revoked_at),
    last_used_at: formatNullableTime(key.last_used_at),
    parent_id: key.parent_id,
  };
}
