import { Type, type Static } from 'typebox';
import type { BrowserLogins, BrowserSession, LoginProof } from '../../component/browser-logins.js';
import { HttpProblem, type Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import type { Clock } from '../../component/telemetry.js';
import { validationProblem } from '../../http/field-errors.js';
import type { RouteBuilder } from '../../http/operation.js';
import { formatTime } from '../../signal/time.js';
import { BoundedLines } from '../../telemetry/bounded-lines.js';
import type { Audit } from '../support/audit.js';
import { nullable, time, uuid } from '../support/fields.js';
import { notFound } from '../support/not-found.js';
import { requireWithin } from './my-keys.js';

const openSession = {
  id: 'openBrowserSession',
  method: 'POST',
  path: '/api/v1/session',
  tag: 'identity',
  summary: 'Log in a browser: the response sets a cookie for the key',
  description:
    'Takes a key, or the token of a link. The cookie has the permissions of the key. It ends with the key, 12 hours after its last use, and after 7 days at the latest. With the cookie, every request but a GET needs `X-Jackdaw: 1` and the same origin. With authentication off, no cookie is set. The browser’s earlier session ends. After 10 invalid keys or tokens a minute from one address, further invalid ones get 429 instead of 401; valid ones are always accepted.',
  access: 'public',
  audit: ['session.opened', 'session_link.refused'],
  body: Type.Object(
    {
      key: Type.Optional(Type.String({ maxLength: 200, description: 'An API key.' })),
      token: Type.Optional(
        Type.String({ maxLength: 200, description: 'Token of a link (`#t=`). It can be used once.' }),
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
  summary: 'Get the user of a login link, without using it',
  description:
    'Pages ask for confirmation before logging in by a link, because a silent login could switch the account of the person who opens it. Failures count like those of `POST /session`.',
  access: 'public',
  audit: ['session_link.refused'],
  body: Type.Object(
    { token: Type.String({ maxLength: 200, description: 'Token of a link (`#t=`).' }) },
    { title: 'SessionLinkToken', additionalProperties: false },
  ),
  responses: {
    200: Type.Object(
      { name: Type.String(), email: Type.String(), expires_at: time('Expiry time of the link.') },
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
  summary: 'Log out the browser: the session ends and the cookie is removed',
  access: 'any',
  audit: ['session.closed'],
  responses: { 204: null },
  errors: [403],
} satisfies Operation;

/** `POST /session/links`, which `jackdaw login` calls. */
export const createSessionLink = {
  id: 'createSessionLink',
  method: 'POST',
  path: '/api/v1/session/links',
  tag: 'identity',
  summary: 'Create a link that logs a browser in once, within 15 minutes',
  description:
    'The browser gets the permissions of the key of this request. Requires an API key, because a cookie that creates links could extend itself forever. A user has at most 20 unused links; a further one replaces the link that expires next.',
  access: 'read',
  audit: ['session_link.created'],
  responses: {
    201: Type.Object(
      { url: Type.String({ description: 'URL to open in the browser.' }), expires_at: time() },
      { title: 'SessionLink' },
    ),
  },
  errors: [403],
} satisfies Operation;

const sessionSchema = Type.Object(
  {
    id: uuid(),
    key_id: uuid('The key of the session; the session ends with it.'),
    created_at: time(),
    last_seen_at: time('Written at most once a minute.'),
    expires_at: time('Expiry time, extended by use.'),
    address: nullable(Type.String({ description: 'Address of the client that logged in.' })),
    user_agent: nullable(Type.String({ description: 'User agent of the browser.' })),
    is_current: Type.Boolean({ description: 'Whether it is the session of this request.' }),
  },
  { title: 'OwnBrowserSession' },
);

const listMySessions = {
  id: 'listMySessions',
  method: 'GET',
  path: '/api/v1/me/sessions',
  tag: 'identity',
  summary: 'List active browser sessions of the caller, newest first',
  access: 'read',
  responses: { 200: Type.Array(sessionSchema) },
} satisfies Operation;

const revokeMySession = {
  id: 'revokeMySession',
  method: 'DELETE',
  path: '/api/v1/me/sessions/{session_id}',
  tag: 'identity',
  summary: 'End a browser session of the caller',
  description:
    'The session’s key must not have more scopes than the key of this request. It may be the session of this request.',
  access: 'read',
  audit: ['session.revoked'],
  params: Type.Object({ session_id: uuid() }),
  responses: { 204: null },
  errors: [404],
} satisfies Operation;

const revokeMySessions = {
  id: 'revokeMySessions',
  method: 'DELETE',
  path: '/api/v1/me/sessions',
  tag: 'identity',
  summary: 'End all browser sessions of the caller, including the one of this request',
  description: 'If any of their keys has more scopes than the key of this request, none is ended: 403.',
  access: 'read',
  audit: ['session.revoked'],
  responses: { 204: null },
} satisfies Operation;

/** Refused links recorded individually per minute, over all addresses; an address has at most 10 of them. */
const REFUSED_A_MINUTE = 20;

/** Records refused login links. Anyone can cause them, so only the first of each minute are listed, and the others are counted. */
export class RefusedLinks {
  readonly #audit: Audit;
  readonly #lines: BoundedLines;

  constructor(audit: Audit, clock: Clock) {
    this.#audit = audit;
    this.#lines = new BoundedLines(clock, REFUSED_A_MINUTE, (count) => {
      audit({ identity: null, address: '' }, 'session_link.refused', { count });
    });
  }

  /** Records that a link was refused if that is why `entering` fails. */
  async watch<Result>(address: string, entering: Promise<Result>): Promise<Result> {
    try {
      return await entering;
    } catch (error) {
      const status = error instanceof HttpProblem ? error.status : 0;
      if (status === 429) this.#lines.count();
      if (status === 401)
        this.#lines.write(() => {
          this.#audit({ identity: null, address }, 'session_link.refused', {});
        });
      throw error;
    }
  }

  /** Records the number of refused links that were only counted. */
  close(): void {
    this.#lines.close();
  }
}

/** The routes under `/session`, by which browsers log in and out, and `/me/sessions`, which lists and ends their sessions. */
export function browserSessionRoutes(context: {
  readonly routes: RouteBuilder;
  readonly logins: BrowserLogins;
  readonly audit: Audit;
  readonly refused: RefusedLinks;
}): readonly Route[] {
  const { routes, logins, audit, refused } = context;
  return [
    routes.route(openSession).to(async ({ body, request, address }) => {
      const proof = readProof(body);
      const entering = logins.enter(request, proof);
      const { cookie, identity } = await ('token' in proof ? refused.watch(address, entering) : entering);
      audit({ identity, address }, 'session.opened', { by: body.key === undefined ? 'link' : 'key' });
      return { status: 204, headers: cookie === null ? {} : { 'set-cookie': cookie } };
    }),
    routes.route(readLink).to(async ({ body, request, address }) => {
      const link = await refused.watch(address, logins.readLink(request, body.token));
      const { name, email, expiresAt } = link;
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
    routes.route(listMySessions).to(async ({ identity }) => {
      const sessions = await logins.sessionsOf(identity.userId);
      return {
        status: 200,
        json: sessions.map((session) => serializeSession(session, identity.session?.id)),
      };
    }),
    routes.route(revokeMySession).to(async ({ params, ...by }) => {
      const wanted = params.session_id.toLowerCase();
      const session = (await logins.sessionsOf(by.identity.userId)).find(({ id }) => id === wanted);
      if (!session) throw notFound('browser session');
      requireWithin(by.identity, session.scopes);
      await logins.end([session.id]);
      audit(by, 'session.revoked', { session_id: session.id });
      return { status: 204 };
    }),
    routes.route(revokeMySessions).to(async (by) => {
      const sessions = await logins.sessionsOf(by.identity.userId);
      for (const { scopes } of sessions) requireWithin(by.identity, scopes);
      await logins.end(sessions.map(({ id }) => id));
      for (const { id } of sessions) audit(by, 'session.revoked', { session_id: id });
      return { status: 204 };
    }),
  ];
}

/** @throws HttpProblem 422 unless there is exactly one of the two */
function readProof({ key, token }: { readonly key?: string; readonly token?: string }): LoginProof {
  if (key !== undefined && token === undefined) return { key };
  if (token !== undefined && key === undefined) return { token };
  throw validationProblem('body', [{ field: '/key', message: 'exactly one of key and token is required' }]);
}

function serializeSession(
  session: BrowserSession,
  current: string | undefined,
): Static<typeof sessionSchema> {
  return {
    id: session.id,
    key_id: session.keyId,
    created_at: formatTime(session.createdAt),
    last_seen_at: formatTime(session.lastSeenAt),
    expires_at: formatTime(session.expiresAt),
    address: session.address,
    user_agent: session.userAgent,
    is_current: session.id === current,
  };
}
