import { Type } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import type { AgentComparison } from '../../storage/contracts/runs.js';
import { outcomeFields, serializeOutcomes, successRate } from '../support/agent-stat-fields.js';
import type { ApiContext } from '../support/api-context.js';
import { count, jsonObject, nullable, formatNullableTime, time, usd, uuid } from '../support/fields.js';
import { notFound } from '../support/not-found.js';
import { runFields } from '../support/runs.js';
import { runScores } from '../support/scores.js';
import { serializeDetailedSpan } from './span-detail.js';
import { detailedSpanSchema, spanSchema } from './span-schemas.js';
import { serializeSpan, serializeTrace } from './trace-body.js';

/** The same as ingestion accepts by default: lists show a hundred of them at once. */
const MAX_OUTCOME_LENGTH = 65_536;

/** Optional parts of a trace. */
const INCLUDES = ['metadata'] as const;

const readTrace = {
  id: 'readTrace',
  method: 'GET',
  path: '/api/v1/dashboard/traces/{trace_id}',
  tag: 'traces',
  summary: 'Get a trace with all its spans',
  description:
    'Spans are ordered by `started_at` and form a tree by `parent_span_id`. Missing `input_data` and `output_data` are taken from GenAI events among the log records with its ids.',
  access: 'read',
  params: Type.Object({ trace_id: uuid() }),
  query: Type.Object({
    include: Type.Optional(
      Type.Enum(INCLUDES, {
        description: '`metadata`: spans include everything that their client sent, as in `readSpan`.',
      }),
    ),
  }),
  responses: {
    200: Type.Object(
      {
        ...runFields,
        metadata: nullable(jsonObject()),
        scores: runScores,
        spans: Type.Array(Type.Union([spanSchema, detailedSpanSchema])),
      },
      { title: 'TraceDetail' },
    ),
  },
  errors: [404],
} satisfies Operation;

const setOutcome = {
  id: 'setTraceOutcome',
  method: 'PATCH',
  path: '/api/v1/dashboard/traces/{trace_id}/outcome',
  tag: 'traces',
  summary: 'Set success and outcome of a trace',
  access: 'write',
  audit: { none: 'Data intake: judges a trace of the caller.' },
  params: Type.Object({ trace_id: uuid() }),
  body: Type.Object(
    {
      success: Type.Boolean(),
      outcome: Type.Optional(
        Type.String({
          maxLength: MAX_OUTCOME_LENGTH,
          description: 'Free text. Absent: the outcome is unchanged.',
        }),
      ),
    },
    { title: 'OutcomeChange', additionalProperties: false },
  ),
  responses: {
    200: Type.Object(
      { trace_id: uuid(), success: Type.Boolean(), outcome: nullable(Type.String()) },
      { title: 'TraceOutcome' },
    ),
  },
  errors: [404],
} satisfies Operation;

const compareAgents = {
  id: 'compareAgents',
  method: 'GET',
  path: '/api/v1/dashboard/traces/compare-agents',
  tag: 'traces',
  summary: 'Compare the statistics of two agents',
  access: 'read',
  query: Type.Object({ agent_a: uuid(), agent_b: uuid() }),
  responses: {
    200: Type.Object(
      {
        agents: Type.Array(
          Type.Object(
            {
              id: uuid(),
              name: Type.String(),
              total_runs: count(),
              success_rate: nullable(Type.Number({ minimum: 0, maximum: 1 })),
              ...outcomeFields,
              avg_cost_per_run: nullable(usd()),
              total_cost: nullable(usd()),
              p95_latency_ms: nullable(Type.Number()),
              last_run_at: nullable(time()),
            },
            { title: 'ComparedAgent' },
          ),
          { minItems: 2, maxItems: 2, description: 'In the order of `agent_a`, `agent_b`.' },
        ),
      },
      { title: 'AgentComparison' },
    ),
  },
  errors: [404],
} satisfies Operation;

/** The routes under `/dashboard/traces`. */
export function traceRoutes({ routes, telemetry }: ApiContext<'agents' | 'runs'>): readonly Route[] {
  return [
    routes.route(compareAgents).to(async ({ identity, query, request }) => {
      const agents = await telemetry.agents.compare(
        identity.userId,
        [query.agent_a, query.agent_b],
        request.abort,
      );
      if (!agents) throw notFound('agent');
      return { status: 200, json: { agents: agents.map(serializeComparison) } };
    }),
    routes.route(readTrace).to(async ({ identity, params, query, request }) => {
      const details = query.include === 'metadata';
      const { runs } = telemetry;
      const [trace, scores] = await Promise.all([
        runs.read(identity.userId, params.trace_id, { details }, request.abort),
        runs.scores(identity.userId, params.trace_id, request.abort),
      ]);
      if (!trace) throw notFound('trace');
      return {
        status: 200,
        encoded: await serializeTrace(trace, scores, details ? serializeDetailedSpan : serializeSpan),
      };
    }),
    routes.route(setOutcome).to(async ({ identity, params, body }) => {
      const outcome = await telemetry.runs.setOutcome(identity.userId, params.trace_id, body);
      if (!outcome) throw notFound('trace');
      return { status: 200, json: { trace_id: params.trace_id, ...outcome } };
    }),
  ];
}

function serializeComparison(agent: AgentComparison) {
  return {
    id: agent.id,
    name: agent.name,
    total_runs: agent.total_runs,
    success_rate: successRate(agent),
    ...serializeOutcomes(agent),
    avg_cost_per_run: agent.avg_cost_per_run,
    total_cost: agent.total_cost,
    p95_latency_ms: agent.p95_latency_ms,
    last_run_at: formatNullableTime(agent.last_run_at),
  };
}
