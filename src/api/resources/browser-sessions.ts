import { Type } from 'typebox';
import type { BrowserLogins, LoginProof } from '../../component/browser-logins.js';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { validationProblem } from '../../http/field-errors.js';
import type { RouteBuilder } from '../../http/operation.js';
import { formatTime } from '../../signal/time.js';
import type { Audit } from '../support/audit.js';
import { time } from '../support/fields.js';

const openSession = {
  id: 'openBrowserSession',
  method: 'POST',
  path: '/api/v1/session',
  tag: 'identity',
  summary: 'Log a browser in: the answer sets a cookie that stands for the key',
  description:
    'Takes a key, or the token of a link. The cookie can do what the key can, for as long as the key holds: 12 hours after its last use, 7 days in all. With the cookie every request but a GET needs `X-Jackdaw: 1` and the same origin. With authentication off no cookie is set. The earlier session of the browser ends. After 10 keys or tokens a minute of one address that are not valid, further ones get 429 instead of 401; valid ones are always taken.',
  access: 'public',
  body: Type.Object(
    {
      key: Type.Optional(Type.String({ maxLength: 200, description: 'An API key.' })),
      token: Type.Optional(
        Type.String({ maxLength: 200, description: 'That of a link (`#t=`). It is used up.' }),
      ),
    },
    { title: 'SessionProof', additionalProperties: false },
  ),
  responses: { 204: null },
  errors: [401, 403, 429],
} satisfies Operation;

const readLink = {
  id: 'readSessionLink',
  method: 'POST',
  path: '/api/v1/session/links/read',
  tag: 'identity',
  summary: 'Whom a link would log in, without using it up',
  description:
    'Pages ask before they log a browser in by a link: a link that logs in silently could swap the account of whoever opens it. Failures count as those of `POST /session`.',
  access: 'public',
  body: Type.Object(
    { token: Type.String({ maxLength: 200, description: 'That of a link (`#t=`).' }) },
    { title: 'SessionLinkToken', additionalProperties: false },
  ),
  responses: {
    200: Type.Object(
      { name: Type.String(), email: Type.String(), expires_at: time('When the link ends.') },
      { title: 'SessionLinkOwner' },
    ),
  },
  errors: [401, 403, 429],
} satisfies Operation;

const closeSession = {
  id: 'closeBrowserSession',
  method: 'DELETE',
  path: '/api/v1/session',
  tag: 'identity',
  summary: 'Log the browser out: the cookie ends, and is removed',
  access: 'any',
  responses: { 204: null },
  errors: [403],
} satisfies Operation;

/** `POST /session/links`, which `jackdaw login` calls. */
export const createSessionLink = {
  id: 'createSessionLink',
  method: 'POST',
  path: '/api/v1/session/links',
  tag: 'identity',
  summary: 'A link that logs a browser in once, within 15 minutes',
  description:
    'The browser can then do what the key of this request can. It has to be asked for with an API key, since a cookie that makes links would never end. A user has 20 links that are not used yet; the one that ends next makes room for another.',
  access: 'read',
  responses: {
    201: Type.Object(
      { url: Type.String({ description: 'To be opened in the browser.' }), expires_at: time() },
      { title: 'SessionLink' },
    ),
  },
  errors: [403],
} satisfies Operation;

/** The routes under `/session`, by which browsers log in and out. */
export function browserSessionRoutes(context: {
  readonly routes: RouteBuilder;
  readonly logins: BrowserLogins;
  readonly audit: Audit;
}): readonly Route[] {
  const { routes, logins, audit } = context;
  return [
    routes.route(openSession).to(async ({ body, request, address }) => {
      const { cookie, identity } = await logins.enter(request, readProof(body));
      audit({ identity, address }, 'session.opened', { by: body.key === undefined ? 'link' : 'key' });
      return { status: 204, headers: cookie === null ? {} : { 'set-cookie': cookie } };
    }),
    routes.route(readLink).to(async ({ body, request }) => {
      const { name, email, expiresAt } = await logins.readLink(request, body.token);
      return { status: 200, json: { name, email, expires_at: formatTime(expiresAt) } };
    }),
    routes.route(closeSession).to(async ({ request, identity, address }) => {
      const cookie = await logins.leave(request);
      if (cookie === null) return { status: 204 };
      audit({ identity, address }, 'session.closed', {});
      return { status: 204, headers: { 'set-cookie': cookie } };
    }),
    routes.route(createSessionLink).to(async ({ request, identity, address }) => {
      const { url, expiresAt } = await logins.createLink(identity, request);
      audit({ identity, address }, 'session_link.created', {});
      return { status: 201, json: { url, expires_at: formatTime(expiresAt) } };
    }),
  ];
}

/** @throws HttpProblem 422 unless there is exactly one of the two */
function readProof({ key, token }: { readonly key?: string; readonly token?: string }): LoginProof {
  if (key !== undefined && token === undefined) return { key };
  if (token !== undefined && key === undefined) return { token };
  throw validationProblem('body', [{ field: '/key', message: 'must be there, or else token, but not both' }]);
}
