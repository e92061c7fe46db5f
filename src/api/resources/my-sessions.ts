import { Type, type Static } from 'typebox';
import type { BrowserLogins, BrowserSession } from '../../component/browser-logins.js';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import type { RouteBuilder } from '../../http/operation.js';
import { formatTime } from '../../signal/time.js';
import type { Audit } from '../support/audit.js';
import { nullable, time, uuid } from '../support/fields.js';
import { notFound } from '../support/not-found.js';
import { requireWithin } from './my-keys.js';

const sessionSchema = Type.Object(
  {
    id: uuid(),
    key_id: uuid('The key that it acts by, and with which it ends.'),
    created_at: time(),
    last_seen_at: time('Written at most once a minute.'),
    expires_at: time('When it ends unless it is used.'),
    address: nullable(Type.String({ description: 'Of the client that logged in.' })),
    user_agent: nullable(Type.String({ description: 'What the browser calls itself.' })),
    is_current: Type.Boolean({ description: 'Whether it is the session of this request.' }),
  },
  { title: 'OwnBrowserSession' },
);

const listMySessions = {
  id: 'listMySessions',
  method: 'GET',
  path: '/api/v1/me/sessions',
  tag: 'identity',
  summary: 'Browser sessions of the caller that can be used, the newest first',
  access: 'read',
  responses: { 200: Type.Array(sessionSchema) },
} satisfies Operation;

const revokeMySession = {
  id: 'revokeMySession',
  method: 'DELETE',
  path: '/api/v1/me/sessions/{session_id}',
  tag: 'identity',
  summary: 'End a browser session of the caller, at once',
  description:
    'Only one whose key can do no more than the key of this request; it may be the session itself.',
  access: 'read',
  params: Type.Object({ session_id: uuid() }),
  responses: { 204: null },
  errors: [404],
} satisfies Operation;

const revokeMySessions = {
  id: 'revokeMySessions',
  method: 'DELETE',
  path: '/api/v1/me/sessions',
  tag: 'identity',
  summary: 'End all browser sessions of the caller, at once, that of this request included',
  description: 'If the key of one of them can do more than the key of this request, none is ended: 403.',
  access: 'read',
  responses: { 204: null },
} satisfies Operation;

/** The routes under `/me/sessions`. */
export function mySessionRoutes(context: {
  readonly routes: RouteBuilder;
  readonly logins: BrowserLogins;
  readonly audit: Audit;
}): readonly Route[] {
  const { routes, logins, audit } = context;
  return [
    routes.route(listMySessions).to(async ({ identity }) => {
      const sessions = await logins.sessionsOf(identity.userId);
      return { status: 200, json: sessions.map((session) => printSession(session, identity.session?.id)) };
    }),
    routes.route(revokeMySession).to(async ({ params, ...by }) => {
      const wanted = params.session_id.toLowerCase();
      const session = (await logins.sessionsOf(by.identity.userId)).find(({ id }) => id === wanted);
      if (!session) throw notFound('session');
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

function printSession(session: BrowserSession, current: string | undefined): Static<typeof sessionSchema> {
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
