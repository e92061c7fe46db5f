import { Type } from 'typebox';
import type { Route } from '../../component/http.js';
import { SCOPES } from '../../component/identity.js';
import type { Operation } from '../../component/operation.js';
import { formatTime } from '../../signal/time.js';
import { ROLES } from '../../storage/contracts/accounts.js';
import type { ApiContext } from '../support/api-context.js';
import { nullable, time, uuid } from '../support/fields.js';
import { notFound } from '../support/not-found.js';
import { serializeUser, userSchema } from './users.js';

export const readMe = {
  id: 'readMe',
  method: 'GET',
  path: '/api/v1/me',
  tag: 'identity',
  summary: 'Get the caller and the scopes of its key',
  access: 'any',
  responses: {
    200: Type.Object(
      {
        user: userSchema,
        key_id: nullable(uuid('Null: authentication is off.')),
        scopes: Type.Array(Type.Enum(SCOPES)),
        browser_session: nullable(
          Type.Object(
            { id: uuid(), expires_at: time('Expiry time, extended by use.') },
            { title: 'CurrentSession', description: 'The browser session of this request; null for a key.' },
          ),
        ),
        memberships: Type.Array(
          Type.Object(
            { slug: Type.String(), name: Type.String(), role: Type.Enum(ROLES) },
            { title: 'Membership' },
          ),
        ),
      },
      { title: 'Me' },
    ),
  },
} satisfies Operation;

/** `/me`, open to every valid key: lists the scopes that the key lacks. */
export function meRoutes({ routes, control }: ApiContext): readonly Route[] {
  return [
    routes.route(readMe).to(async ({ identity }) => {
      const user = await control.accounts.findUser(identity.userId);
      if (!user) throw notFound('user');
      const memberships = await control.organizations.membershipsOf(user.id);
      return {
        status: 200,
        json: {
          user: serializeUser(user),
          key_id: identity.keyId,
          scopes: [...identity.scopes],
          browser_session: identity.session
            ? { id: identity.session.id, expires_at: formatTime(identity.session.expiresAt) }
            : null,
          memberships: memberships.map(({ slug, organization_name: name, role }) => ({ slug, name, role })),
        },
      };
    }),
  ];
}
