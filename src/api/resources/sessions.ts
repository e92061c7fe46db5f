import { Type, type Static } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { MAX_IDENTITY } from '../../signal/run-context.js';
import { formatTime } from '../../signal/time.js';
import type { RepositorySummary, SessionSummary, UserSummary } from '../../storage/contracts/runs.js';
import type { ApiContext } from '../support/api-context.js';
import { count, nullable, time, usd, uuid } from '../support/fields.js';
import { notFound } from '../support/not-found.js';
import { pageParameters, pageRange, pageSchema, serializePage } from '../support/paging.js';
import { serializeScore, sessionScores } from '../support/scores.js';
import {
  identity,
  kindParameter,
  serializeRuns,
  runFilter,
  runPageSchema,
  dimensionParameters,
} from '../support/runs.js';

const sessionFields = {
  session_id: Type.String({ description: 'Id as sent.' }),
  user_ids: Type.Array(Type.String(), {
    description: 'End users of its runs: the latest, at most 20.',
  }),
  agents: Type.Array(Type.Object({ id: uuid(), name: Type.String() }), {
    description: 'Agents of its runs: the latest, at most 20.',
  }),
  total_runs: count(),
  failed_runs: count('Runs with status `failed` or `timed_out`.'),
  first_at: time('The start of the first run.'),
  last_at: time('The last start or end of a run.'),
  total_tokens: nullable(Type.Number()),
  total_cost: nullable(usd('US dollars; null: no run has a cost')),
};
const sessionSchema = Type.Object(sessionFields, { title: 'Session' });

const listSessions = {
  id: 'listSessions',
  method: 'GET',
  path: '/api/v1/dashboard/sessions',
  tag: 'sessions',
  summary: 'List sessions, the most recently active first',
  description:
    'A session consists of all runs with its id. Filters select sessions with a run that matches all of them. Ordered by the latest start of such a run; values cover all runs of the session.',
  access: 'read',
  query: Type.Object({
    ...pageParameters,
    kind: kindParameter,
    user_id: Type.Optional(identity('Sessions with a run for this user.')),
    agent_id: Type.Optional(uuid('Sessions with a run of this agent.')),
    ...dimensionParameters,
    start_time: Type.Optional(time('Sessions with a run that started at or after.')),
    end_time: Type.Optional(time('Sessions with a run that started at or before.')),
  }),
  responses: { 200: pageSchema(sessionSchema, 'SessionPage') },
} satisfies Operation;

const readSession = {
  id: 'readSession',
  method: 'GET',
  path: '/api/v1/dashboard/sessions/{session_id}',
  tag: 'sessions',
  summary: 'Get a session with its runs, oldest first, in pages',
  access: 'read',
  params: Type.Object({
    session_id: Type.String({ minLength: 1, description: 'Any text, percent-encoded.' }),
  }),
  query: Type.Object({ ...pageParameters, kind: kindParameter }),
  responses: {
    200: Type.Object(
      { ...sessionFields, scores: sessionScores, ...runPageSchema.properties },
      { title: 'SessionDetail' },
    ),
  },
  errors: [404],
} satisfies Operation;

const userSchema = Type.Object(
  {
    user_id: Type.String({ description: 'Id as sent.' }),
    total_runs: count(),
    failed_runs: count('Runs with status `failed` or `timed_out`.'),
    total_sessions: count(),
    last_at: time('The start of the last run.'),
    total_tokens: nullable(Type.Number()),
    total_cost: nullable(usd('US dollars; null: no run has a cost')),
  },
  { title: 'EndUser' },
);

const listUsers = {
  id: 'listEndUsers',
  method: 'GET',
  path: '/api/v1/dashboard/users',
  tag: 'sessions',
  summary: 'List end users with their runs, tokens and cost, most expensive first',
  description:
    'End users as runs name them, such as the developers who use a coding agent. Values cover the runs that match the filters. Ordered by `total_cost`, then `total_runs`, descending.',
  access: 'read',
  query: Type.Object({
    ...pageParameters,
    kind: kindParameter,
    query: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_IDENTITY,
        description: 'Users whose id contains this text, in any case.',
      }),
    ),
    agent_id: Type.Optional(uuid('Runs of this agent.')),
    ...dimensionParameters,
    start_time: Type.Optional(time('Runs that started at or after.')),
    end_time: Type.Optional(time('Runs that started at or before.')),
  }),
  responses: { 200: pageSchema(userSchema, 'EndUserPage') },
} satisfies Operation;

const repositorySchema = Type.Object(
  {
    repository: Type.String({ description: 'Name, such as `owner/name`.' }),
    total_runs: count(),
    failed_runs: count('Runs with status `failed` or `timed_out`.'),
    total_users: count('End users of its runs.'),
    total_sessions: count(),
    last_at: time('The start of the last run.'),
    total_tokens: nullable(Type.Number()),
    total_cost: nullable(usd('US dollars; null: no run has a cost')),
  },
  { title: 'RepositoryStats' },
);

const listRepositories = {
  id: 'listRepositories',
  method: 'GET',
  path: '/api/v1/dashboard/repositories',
  tag: 'sessions',
  summary: 'List repositories with their runs, tokens and cost, most expensive first',
  description:
    'Repositories that runs worked on, such as those of coding agents: from `vcs.repository.url.full` or `vcs.repository.name`. Values cover the runs that match the filters. Ordered by `total_cost`, then `total_runs`, descending.',
  access: 'read',
  query: Type.Object({
    ...pageParameters,
    kind: kindParameter,
    user_id: Type.Optional(identity('Runs for this end user.')),
    agent_id: Type.Optional(uuid('Runs of this agent.')),
    ...dimensionParameters,
    start_time: Type.Optional(time('Runs that started at or after.')),
    end_time: Type.Optional(time('Runs that started at or before.')),
  }),
  responses: { 200: pageSchema(repositorySchema, 'RepositoryStatsPage') },
} satisfies Operation;

/** The routes `/dashboard/users`, `/dashboard/repositories` and `/dashboard/sessions`. */
export function sessionRoutes({ routes, telemetry }: ApiContext<'runs' | 'sessions'>): readonly Route[] {
  return [
    routes.route(listSessions).to(async ({ identity: { userId }, query, request }) => {
      const { user_id, agent_id } = query;
      const filter = {
        ...runFilter(query),
        ...(user_id === undefined ? {} : { user_id }),
        ...(agent_id === undefined ? {} : { agent_id }),
      };
      const found = await telemetry.sessions.list(userId, filter, pageRange(query), request.abort);
      return { status: 200, json: serializePage(found.items.map(serializeSession), found.count, query) };
    }),
    routes.route(listUsers).to(async ({ identity: { userId }, query, request }) => {
      const { agent_id, query: part } = query;
      const filter = {
        ...runFilter(query),
        ...(agent_id === undefined ? {} : { agent_id }),
        ...(part === undefined ? {} : { query: part }),
      };
      const found = await telemetry.sessions.users(userId, filter, pageRange(query), request.abort);
      return { status: 200, json: serializePage(found.items.map(serializeUser), found.count, query) };
    }),
    routes.route(listRepositories).to(async ({ identity: { userId }, query, request }) => {
      const { agent_id } = query;
      const filter = { ...runFilter(query), ...(agent_id === undefined ? {} : { agent_id }) };
      const found = await telemetry.sessions.repositories(userId, filter, pageRange(query), request.abort);
      return { status: 200, json: serializePage(found.items.map(serializeRepository), found.count, query) };
    }),
    routes.route(readSession).to(async ({ identity: { userId }, params, query, request }) => {
      const { session_id } = params;
      const filter = runFilter({ kind: query.kind ?? 'agent' });
      const session = await telemetry.sessions.read(userId, session_id, filter, request.abort);
      if (!session) throw notFound('session');
      const runs = await telemetry.runs.list(
        userId,
        { ...filter, session_id, oldest_first: true },
        pageRange(query),
        request.abort,
      );
      const scores = await telemetry.sessions.scores(userId, session_id, request.abort);
      const whole = { ...serializeSession(session), scores: scores.map(serializeScore) };
      return { status: 200, encoded: await serializeRuns(runs, query, whole) };
    }),
  ];
}

function serializeUser(user: UserSummary): Static<typeof userSchema> {
  return { user_id: user.user_id, ...serializeStats(user) };
}

function serializeRepository({
  repository,
  users,
  ...rest
}: RepositorySummary): Static<typeof repositorySchema> {
  return { repository, total_users: users, ...serializeStats(rest) };
}

function serializeStats(stats: Omit<UserSummary, 'user_id'>) {
  return {
    total_runs: stats.runs,
    failed_runs: stats.failed_runs,
    total_sessions: stats.sessions,
    last_at: formatTime(stats.last_at),
    total_tokens: stats.total_tokens,
    total_cost: stats.total_cost,
  };
}

function serializeSession(session: SessionSummary): Static<typeof sessionSchema> {
  return {
    session_id: session.session_id,
    user_ids: [...session.user_ids],
    agents: [...session.agents],
    total_runs: session.runs,
    failed_runs: session.failed_runs,
    first_at: formatTime(session.first_at),
    last_at: formatTime(session.last_at),
    total_tokens: session.total_tokens,
    total_cost: session.total_cost,
  };
}
