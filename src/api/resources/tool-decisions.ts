import { Type, type Static } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import {
  DECISION_ATTRIBUTES,
  DECISION_EVENTS,
  toolDecision,
  USER_ATTRIBUTES,
} from '../../otlp/map/tool-decisions.js';
import { userIn } from '../../otlp/map/user-of.js';
import { parseTime, type Micros } from '../../signal/time.js';
import type { ApiContext } from '../support/api-context.js';
import { count, formatNullableTime, nullable, time } from '../support/fields.js';

/** Maximum number of users and of tools listed. */
const MOST_LISTED = 1000;

const decisionFields = {
  accepted: count('Uses of tools that were allowed.'),
  rejected: count('Uses of tools that were refused or cancelled.'),
  automatic: count(
    'Accepted and rejected uses that settings, hooks or rules decided without asking a person.',
  ),
};

const decisionsSchema = Type.Object(
  {
    ...decisionFields,
    users: Type.Array(
      Type.Object(
        {
          user_id: nullable(Type.String({ description: 'Null: the events have no user.' })),
          ...decisionFields,
        },
        { title: 'ToolDecisionsOfUser' },
      ),
      { description: `Users with the most decisions first, at most ${MOST_LISTED}.` },
    ),
    tools: Type.Array(
      Type.Object(
        { tool_name: nullable(Type.String()), ...decisionFields },
        { title: 'ToolDecisionsOfTool' },
      ),
      { description: `Tools with the most decisions first, at most ${MOST_LISTED}.` },
    ),
    counted_after: nullable(
      time(
        'Null if all decisions are counted. Otherwise there are more log records than one request searches, and older decisions may be missing.',
      ),
    ),
  },
  { title: 'ToolDecisions' },
);

const readDecisions = {
  id: 'readToolDecisions',
  method: 'GET',
  path: '/api/v1/dashboard/users/tool-decisions',
  tag: 'sessions',
  summary: 'Count accepted and rejected uses of tools by user and by tool',
  description: `From the log events of coding agents: \`${DECISION_EVENTS.join('`, `')}\`.`,
  access: 'read',
  query: Type.Object({
    start_time: Type.Optional(time('Decisions at or after.')),
    end_time: Type.Optional(time('Decisions at or before.')),
  }),
  responses: { 200: decisionsSchema },
} satisfies Operation;

interface Decisions {
  accepted: number;
  rejected: number;
  automatic: number;
}

/** `GET /dashboard/users/tool-decisions`. */
export function toolDecisionRoutes({ routes, telemetry }: ApiContext<'logs'>): readonly Route[] {
  return [
    routes.route(readDecisions).to(async ({ identity: { userId }, query, request }) => {
      const start = query.start_time === undefined ? undefined : parseTime(query.start_time);
      const end = query.end_time === undefined ? undefined : parseTime(query.end_time);
      const total = none();
      const users = new Map<string | null, Decisions>();
      const tools = new Map<string | null, Decisions>();
      let countedAfter: Micros | null = null;
      for (const event of DECISION_EVENTS) {
        const filter = {
          event_name: event,
          // The words find the records by the index.
          query: event.split(/[._]/).join(' '),
          ...(start === undefined ? {} : { start_time: start }),
          ...(end === undefined ? {} : { end_time: end }),
        };
        const found = await telemetry.logs.groups(userId, filter, ATTRIBUTES, request.abort);
        if (found.counted_after !== null)
          countedAfter = Math.max(countedAfter ?? -Infinity, found.counted_after);
        for (const { values, count: records } of found.groups) {
          const { user, tool, decision } = read(values);
          if (decision === undefined) continue;
          for (const sums of [total, sumsOf(users, user), sumsOf(tools, tool)]) {
            sums[decision.isAccepted ? 'accepted' : 'rejected'] += records;
            if (decision.isAutomatic) sums.automatic += records;
          }
        }
      }
      const json: Static<typeof decisionsSchema> = {
        ...total,
        users: largest(users).map(([user_id, sums]) => ({ user_id, ...sums })),
        tools: largest(tools).map(([tool_name, sums]) => ({ tool_name, ...sums })),
        counted_after: formatNullableTime(countedAfter),
      };
      return { status: 200, json };
    }),
  ];
}

const ATTRIBUTES = [...DECISION_ATTRIBUTES, ...USER_ATTRIBUTES];

/** @param values of {@link ATTRIBUTES} */
function read(values: readonly (string | null)[]) {
  const [decision = null, source = null, tool = null, called = null, ...whose] = values;
  const attributes = Object.fromEntries(USER_ATTRIBUTES.map((key, i) => [key, whose[i] ?? null]));
  return {
    decision: toolDecision(decision, source),
    tool: tool ?? called,
    user: userIn(attributes),
  };
}

function none(): Decisions {
  return { accepted: 0, rejected: 0, automatic: 0 };
}

function sumsOf(all: Map<string | null, Decisions>, key: string | null): Decisions {
  const sums = all.get(key) ?? none();
  all.set(key, sums);
  return sums;
}

function largest(all: ReadonlyMap<string | null, Decisions>): [string | null, Decisions][] {
  const size = ([, { accepted, rejected }]: [string | null, Decisions]): number => accepted + rejected;
  return [...all]
    .sort((a, b) => size(b) - size(a) || ((a[0] ?? '') < (b[0] ?? '') ? -1 : 1))
    .slice(0, MOST_LISTED);
}
