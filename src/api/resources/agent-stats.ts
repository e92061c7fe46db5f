import { Type, type Static } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { formatTime, type Micros } from '../../signal/time.js';
import type { AgentDay } from '../../storage/contracts/runs.js';
import {
  estimateParameter,
  estimateSchema,
  outcomeFields,
  serializeEstimate,
  serializeOutcomes,
  successRate,
} from '../support/agent-stat-fields.js';
import type { ApiContext } from '../support/api-context.js';
import { count, nullable, usd, uuid } from '../support/fields.js';
import { notFound } from '../support/not-found.js';
import { MICROS_PER_DAY } from '../../signal/time-units.js';

const DEFAULT_DAYS = 7;
const WINDOWS = new Map([
  [7, '7d'],
  [30, '30d'],
  [90, '90d'],
] as const);

const daySchema = Type.Object(
  {
    date: Type.String({ format: 'date', description: 'UTC calendar day' }),
    total_runs: count(),
    success_count: count(),
    failure_count: count(),
    ...outcomeFields,
    success_rate: nullable(Type.Number({ minimum: 0, maximum: 1 })),
    total_cost: usd('US dollars; 0 without any cost'),
    total_tokens: Type.Number(),
    avg_latency_ms: nullable(Type.Number()),
    p95_latency_ms: nullable(Type.Number()),
    estimate: Type.Optional(estimateSchema),
  },
  { title: 'AgentDay' },
);

const readAgentStats = {
  id: 'readAgentStats',
  method: 'GET',
  path: '/api/v1/agents/{agent_id}/stats',
  tag: 'agents',
  summary: 'Daily statistics of an agent over the last 7, 30 or 90 days',
  access: 'read',
  params: Type.Object({ agent_id: uuid() }),
  query: Type.Object({
    days: Type.Union([Type.Enum([...WINDOWS.keys()]), Type.String()], {
      default: DEFAULT_DAYS,
      description: '7, 30 or 90; any other value counts as 7.',
    }),
    estimate: estimateParameter,
  }),
  responses: {
    200: Type.Object(
      {
        agent_id: uuid(),
        agent_name: Type.String(),
        window: Type.Enum(['7d', '30d', '90d']),
        daily: Type.Array(daySchema, {
          description: 'One entry for each day, oldest first, including today; days without runs have zeros.',
        }),
      },
      { title: 'AgentStats' },
    ),
  },
  errors: [404],
} satisfies Operation;

/** `/agents/{agent_id}/stats` */
export function agentStatsRoutes({ routes, telemetry, clock }: ApiContext<'agents'>): readonly Route[] {
  return [
    routes.route(readAgentStats).to(async ({ identity, params, query, request }) => {
      const asked = Number(query.days);
      const days = asked === 30 || asked === 90 ? asked : DEFAULT_DAYS;
      const today = Math.floor(clock.now() / MICROS_PER_DAY) * MICROS_PER_DAY;
      const from = today - (days - 1) * MICROS_PER_DAY;
      const range = { from, to: today + MICROS_PER_DAY - 1 };
      const stats = await telemetry.agents.days(identity.userId, params.agent_id, range, request.abort);
      if (!stats) throw notFound('agent');
      return {
        status: 200,
        json: {
          agent_id: params.agent_id,
          agent_name: stats.name,
          window: WINDOWS.get(days) ?? '7d',
          daily: everyDay(from, days, stats.days, query.estimate === true),
        },
      };
    }),
  ];
}

function everyDay(
  from: Micros,
  days: number,
  known: readonly AgentDay[],
  estimates: boolean,
): Static<typeof daySchema>[] {
  const byDate = new Map(known.map((day) => [day.date, day]));
  return Array.from({ length: days }, (_, index) => {
    const date = formatTime(from + index * MICROS_PER_DAY).slice(0, 10);
    return formatDay(byDate.get(date) ?? emptyDay(date), estimates);
  });
}

function formatDay(day: AgentDay, estimates: boolean): Static<typeof daySchema> {
  return {
    date: day.date,
    total_runs: day.total_runs,
    success_count: day.success_count,
    failure_count: day.failure_count,
    ...serializeOutcomes(day),
    success_rate: successRate(day),
    total_cost: day.total_cost,
    total_tokens: day.total_tokens,
    avg_latency_ms: day.avg_latency_ms,
    p95_latency_ms: day.p95_latency_ms,
    ...(estimates && { estimate: serializeEstimate(day.estimate) }),
  };
}

function emptyDay(date: string): AgentDay {
  const none = {
    total_runs: 0,
    success_count: 0,
    failure_count: 0,
    failed_runs: 0,
    finished_runs: 0,
    total_cost: 0,
    total_tokens: 0,
    avg_latency_ms: null,
  };
  return { date, ...none, p95_latency_ms: null, estimate: { ...none, counted_runs: 0, sampled_runs: 0 } };
}
