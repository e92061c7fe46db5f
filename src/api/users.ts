import { Type, type Static } from 'typebox';
import type { Route } from '../component/http.js';
import type { Operation } from '../component/operation.js';
import { uuidV7 } from '../signal/ids.js';
import { formatTime } from '../signal/time.js';
import type { User } from '../storage/meta-store.js';
import type { ApiContext } from './api-context.js';
import { conflictAsProblem } from './conflict.js';
import { nullable, time, uuid } from './fields.js';
import { notFound } from './not-found.js';

export const userSchema = Type.Object(
  {
    id: uuid(),
    email: Type.String(),
    name: Type.String(),
    monthly_event_limit: nullable(
      Type.Integer({
        description: "Events a UTC calendar month. 0: no limit. Null: the daemon's default holds.",
      }),
    ),
    created_at: time(),
  },
  { title: 'User' },
);

export type UserJson = Static<typeof userSchema>;

const email = Type.String({ format: 'email', maxLength: 254 });
const name = Type.String({ minLength: 1, maxLength: 200, format: 'name' });
const monthlyEventLimit = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description:
      "Events a UTC calendar month, 0 for no limit; it holds at once. A user that never had one has the daemon's default.",
  }),
);

export const listUsers = {
  id: 'listUsers',
  method: 'GET',
  path: '/api/v1/admin/users',
  tag: 'administration',
  summary: 'All users, the oldest first',
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
  body: Type.Object(
    { email, name, monthly_event_limit: monthlyEventLimit },
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
  summary: 'Change a user; fields that are absent stay as they are',
  access: 'admin',
  params: Type.Object({ user_id: uuid() }),
  body: Type.Object(
    { email: Type.Optional(email), name: Type.Optional(name), monthly_event_limit: monthlyEventLimit },
    { title: 'UserChange', additionalProperties: false },
  ),
  responses: { 200: userSchema },
  errors: [404, 409],
} satisfies Operation;

/** The routes under `/admin/users`. */
export function userRoutes({ routes, meta, clock }: ApiContext): readonly Route[] {
  return [
    routes.route(listUsers).to(async () => {
      const users = [...(await meta.listUsers())].sort((a, b) => (a.id < b.id ? -1 : 1));
      return { status: 200, json: users.map(printUser) };
    }),
    routes.route(createUser).to(async ({ body }) => {
      const now = clock.now();
      const user: User = {
        id: uuidV7(Math.floor(now / 1000)),
        email: body.email,
        name: body.name,
        monthly_event_limit: body.monthly_event_limit ?? null,
        created_at: now,
      };
      await conflictAsProblem(meta.createUser(user));
      return { status: 201, json: printUser(user) };
    }),
    routes.route(updateUser).to(async ({ params, body }) => {
      const user = await conflictAsProblem(meta.updateUser(params.user_id, body));
      if (!user) throw notFound('user');
      return { status: 200, json: printUser(user) };
    }),
  ];
}

export function printUser(user: User): UserJson {
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    monthly_event_limit: user.monthly_event_limit,
    created_at: formatTime(user.created_at),
  };
}
