import { Type, type Static } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { uuidV7 } from '../../signal/ids.js';
import { formatTime } from '../../signal/time.js';
import type { User } from '../../storage/contracts/accounts.js';
import type { ApiContext } from '../support/api-context.js';
import { conflictAsProblem, lastAdmin } from '../support/conflict.js';
import { nullable, time, uuid } from '../support/fields.js';
import { longArray } from '../support/long-body.js';
import { notFound } from '../support/not-found.js';

export const userSchema = Type.Object(
  {
    id: uuid(),
    email: Type.String(),
    name: Type.String(),
    monthly_event_limit: nullable(
      Type.Integer({
        description: 'Monthly event limit (UTC). 0: no limit. Null: the daemon’s default applies.',
      }),
    ),
    stored_bytes_limit: nullable(
      Type.Integer({
        description: 'Storage limit in bytes. 0: no limit. Null: the daemon’s default applies.',
      }),
    ),
    disabled: Type.Boolean({ description: 'Whether its keys are refused and its alerts are paused.' }),
    created_at: time(),
  },
  { title: 'UserAccount' },
);

export type UserJson = Static<typeof userSchema>;

const email = Type.String({ format: 'email', maxLength: 254 });
const name = Type.String({ minLength: 1, maxLength: 200, format: 'name' });
const monthlyEventLimit = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description:
      'Monthly event limit (UTC), 0 for no limit; applies immediately. Users without one have the daemon’s default.',
  }),
);
const storedBytesLimit = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description:
      'Storage limit in bytes, 0 for no limit; applies immediately. Users without one have the daemon’s default.',
  }),
);

export const listUsers = {
  id: 'listUsers',
  method: 'GET',
  path: '/api/v1/admin/users',
  tag: 'administration',
  summary: 'List users, oldest first',
  access: 'admin',
  responses: { 200: Type.Array(userSchema) },
} satisfies Operation;

export const createUser = {
  id: 'createUser',
  method: 'POST',
  path: '/api/v1/admin/users',
  tag: 'administration',
  summary: 'Create a user',
  access: 'admin',
  audit: ['user.created'],
  body: Type.Object(
    { email, name, monthly_event_limit: monthlyEventLimit, stored_bytes_limit: storedBytesLimit },
    { title: 'NewUser', additionalProperties: false },
  ),
  responses: { 201: userSchema },
  errors: [409],
} satisfies Operation;

export const updateUser = {
  id: 'updateUser',
  method: 'PATCH',
  path: '/api/v1/admin/users/{user_id}',
  tag: 'administration',
  summary: 'Change, disable or enable a user; absent fields are unchanged',
  description: 'The user with the last unexpiring `admin` key cannot be disabled (conflict).',
  access: 'admin',
  audit: ['user.changed', 'user.disabled', 'user.enabled'],
  params: Type.Object({ user_id: uuid() }),
  body: Type.Object(
    {
      email: Type.Optional(email),
      name: Type.Optional(name),
      monthly_event_limit: monthlyEventLimit,
      stored_bytes_limit: storedBytesLimit,
      disabled: Type.Optional(
        Type.Boolean({
          description:
            'All keys of a disabled user are refused from the next request on, and its alerts are not evaluated. Its data is kept and is available again once it is enabled.',
        }),
      ),
    },
    { title: 'UserChange', additionalProperties: false },
  ),
  responses: { 200: userSchema },
  errors: [404, 409],
} satisfies Operation;

/** The routes under `/admin/users`. */
export function userRoutes({ routes, control, refreshKeys, audit, clock }: ApiContext): readonly Route[] {
  const { accounts } = control;
  return [
    routes.route(listUsers).to(async () => {
      const users = [...(await accounts.listUsers())].sort((a, b) => (a.id < b.id ? -1 : 1));
      return { status: 200, encoded: await longArray(users, serializeUser) };
    }),
    routes.route(createUser).to(async ({ body, ...by }) => {
      const now = clock.now();
      const user: User = {
        id: uuidV7(Math.floor(now / 1000)),
        email: body.email,
        name: body.name,
        monthly_event_limit: body.monthly_event_limit ?? null,
        stored_bytes_limit: body.stored_bytes_limit ?? null,
        disabled: false,
        created_at: now,
      };
      await conflictAsProblem(accounts.createUser(user));
      audit(by, 'user.created', { user_id: user.id });
      return { status: 201, json: serializeUser(user) };
    }),
    routes.route(updateUser).to(async ({ params, body, ...by }) => {
      const before = await accounts.findUser(params.user_id);
      const user = await conflictAsProblem(accounts.updateUser(params.user_id, body));
      if (!user) throw notFound('user');
      if (user === 'last_admin') throw lastAdmin('This user has');
      const { disabled, ...others } = body;
      const fields = Object.keys(others) as (keyof typeof others)[];
      const changes = Object.fromEntries(
        fields.map((field) => [field, { from: before?.[field] ?? null, to: user[field] }]),
      );
      if (disabled !== undefined)
        audit(by, disabled ? 'user.disabled' : 'user.enabled', { user_id: user.id });
      if (fields.length > 0) audit(by, 'user.changed', { user_id: user.id, changes });
      if (disabled !== undefined) await refreshKeys();
      return { status: 200, json: serializeUser(user) };
    }),
  ];
}

export function serializeUser(user: User): UserJson {
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    monthly_event_limit: user.monthly_event_limit,
    stored_bytes_limit: user.stored_bytes_limit,
    disabled: user.disabled,
    created_at: formatTime(user.created_at),
  };
}
