import { Type } from 'typebox';
import { grants } from '../../auth/scopes.js';
import { HttpProblem, type Route } from '../../component/http.js';
import { SCOPES, type Identity, type Scope } from '../../component/identity.js';
import type { Operation } from '../../component/operation.js';
import type { Micros } from '../../signal/time.js';
import { MOST_ENDED, type StoredKey } from '../../storage/contracts/accounts.js';
import type { ApiContext } from '../support/api-context.js';
import { lastAdmin } from '../support/conflict.js';
import { time, uuid } from '../support/fields.js';
import { longArray } from '../support/long-body.js';
import { notFound } from '../support/not-found.js';
import {
  auditCreated,
  confirmField,
  createdKeySchema,
  keySchema,
  makerOf,
  makerRevoked,
  newKey,
  serializeKey,
  readExpiry,
  withChildrenQuery,
} from './keys.js';

/** Maximum of usable keys per user; administrators may create more. */
const MOST_KEYS = 100;
/** Maximum including revoked and expired keys, which stay listed for at least a day. */
const MOST_LISTED = 300;

const listMyKeys = {
  id: 'listMyKeys',
  method: 'GET',
  path: '/api/v1/me/keys',
  tag: 'identity',
  summary:
    'List API keys of the caller, including expired and revoked ones of the last 90 days, oldest first',
  description: `Lists the newest ${MOST_ENDED} ended keys, and all keys that ended in the last day.`,
  access: 'read',
  responses: { 200: Type.Array(keySchema) },
} satisfies Operation;

const createMyKey = {
  id: 'createMyKey',
  method: 'POST',
  path: '/api/v1/me/keys',
  tag: 'identity',
  summary: 'Create an API key for the caller; only this response contains it',
  description: `The key cannot have more scopes or expire later than the key that creates it: 403 \`forbidden_scope\`, or 422. A browser session needs \`confirm_with_key\` for a key that outlives it: 403 \`confirmation_needed\`. A user with ${MOST_KEYS} usable keys, or with ${MOST_LISTED} keys including ended ones, gets 409 \`conflict\`.`,
  access: 'manage',
  audit: ['key.created'],
  body: Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 200, format: 'name' }),
      scopes: Type.Array(Type.Enum(SCOPES), { minItems: 1, uniqueItems: true }),
      expires_at: Type.Optional(time('In the future. Absent: never.')),
      confirm_with_key: confirmField,
    },
    { title: 'NewOwnKey', additionalProperties: false },
  ),
  responses: { 201: createdKeySchema },
  errors: [409],
} satisfies Operation;

const revokeMyKey = {
  id: 'revokeMyKey',
  method: 'DELETE',
  path: '/api/v1/me/keys/{key_id}',
  tag: 'identity',
  summary: 'Revoke an API key of the caller permanently',
  description:
    'The key must not have more scopes than the key of this request; it may be that key itself. The last unexpiring `admin` key cannot be revoked (conflict).',
  access: 'manage',
  audit: ['key.revoked'],
  params: Type.Object({ key_id: uuid() }),
  query: withChildrenQuery,
  responses: { 204: null },
  errors: [404, 409],
} satisfies Operation;

/** The routes under `/me/keys`, for users who are not administrators. */
export function myKeyRoutes(context: ApiContext): readonly Route[] {
  const { routes, control, refreshKeys, audit, clock } = context;
  const { accounts } = control;
  return [
    routes.route(listMyKeys).to(async ({ identity }) => {
      const keys = [...(await accounts.listKeys(identity.userId))].sort((a, b) => (a.id < b.id ? -1 : 1));
      return { status: 200, encoded: await longArray(keys, serializeKey) };
    }),
    routes.route(createMyKey).to(async ({ body, ...by }) => {
      const { identity } = by;
      const now = clock.now();
      const expires_at = readExpiry(body.expires_at, now);
      const maker = makerOf(context, identity, { ...body, expiresAt: expires_at, scope: 'manage' });
      requireWithin(maker, body.scopes);
      const keys = await accounts.listKeys(identity.userId);
      refuseLonger(maker, keys, expires_at);
      if (keys.filter((key) => isUsable(key, now)).length >= MOST_KEYS)
        throw new HttpProblem(
          409,
          'conflict',
          `You have ${MOST_KEYS} API keys: revoke one that is not needed.`,
        );
      if (keys.length >= MOST_LISTED)
        throw new HttpProblem(
          409,
          'conflict',
          `You have ${MOST_LISTED} API keys, with revoked and expired ones: create the next one tomorrow, when ended ones are removed.`,
        );
      const made = { ...body, user_id: identity.userId, expires_at, parent_id: maker.keyId };
      const { text, key } = newKey(now, made);
      if (!(await accounts.createKey(key))) throw makerRevoked();
      auditCreated(audit, by, key);
      await refreshKeys();
      return { status: 201, json: { ...serializeKey(key), key: text } };
    }),
    routes.route(revokeMyKey).to(async ({ params, query, ...by }) => {
      const { identity } = by;
      const wanted = params.key_id.toLowerCase();
      const key = (await accounts.listKeys(identity.userId)).find(({ id }) => id === wanted);
      if (!key) throw notFound('API key');
      // The revoked key must not have more scopes than the key of the request.
      requireWithin(identity, key.scopes);
      const revoked = await accounts.revokeKey(key.id, clock.now(), query.with_children);
      if (revoked === 'last_admin') throw lastAdmin('This is');
      if (revoked === 'unknown') throw notFound('API key');
      for (const key_id of revoked) audit(by, 'key.revoked', { key_id });
      await refreshKeys();
      return { status: 204 };
    }),
  ];
}

/** @throws HttpProblem 403 `forbidden_scope` */
export function requireWithin(identity: Identity, scopes: readonly Scope[]): void {
  const lacking = scopes.find((scope) => !grants(identity.scopes, scope));
  if (lacking !== undefined)
    throw new HttpProblem(403, 'forbidden_scope', `The API key lacks the scope "${lacking}" itself.`);
}

/** An expiring key must not create one that does not expire. @throws HttpProblem 422 */
function refuseLonger({ keyId }: Identity, keys: readonly StoredKey[], expiresAt: Micros | null): void {
  const end = keys.find(({ id }) => id === keyId)?.expires_at ?? null;
  if (end === null || (expiresAt !== null && expiresAt <= end)) return;
  throw new HttpProblem(
    422,
    'validation_failed',
    'The key would expire later than the key of this request.',
    {
      errors: [{ field: '/expires_at', message: 'must not be after the end of the key of this request' }],
    },
  );
}

function isUsable({ revoked_at, expires_at }: StoredKey, now: Micros): boolean {
  return revoked_at === null && (expires_at === null || expires_at > now);
}
