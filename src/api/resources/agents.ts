import { Type, type Static } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import type { OperationCaller } from '../../http/operation-call.js';
import { isUuid } from '../../signal/ids.js';
import { formatTime } from '../../signal/time.js';
import { AGENT_SORTS, type AgentSummary } from '../../storage/contracts/runs.js';
import {
  estimateParameter,
  estimateSchema,
  outcomeFields,
  serializeEstimate,
  serializeOutcomes,
  successPercentage,
} from '../support/agent-stat-fields.js';
import type { ApiContext } from '../support/api-context.js';
import { count, nullable, formatNullableTime, time, usd, uuid } from '../support/fields.js';
import { stretchOf } from '../support/intervals.js';
import { longArray } from '../support/long-body.js';
import { notFound } from '../support/not-found.js';
import {
  optionalPageParameters,
  pageRange,
  pageRequest,
  pageSchema,
  serializePage,
} from '../support/paging.js';
import { comparedFields, serializeCompared } from '../support/period-totals.js';
import {
  serializeRuns,
  runFilter,
  runPageSchema,
  runParameters,
  dimensionParameters,
} from '../support/runs.js';

const agentFields = {
  id: uuid(),
  name: Type.String(),
  total_runs: count(),
  success_percentage: nullable(
    Type.Number({
      minimum: 0,
      maximum: 100,
      description: 'Percentage of runs with a success signal, one decimal; null if no run has one.',
    }),
  ),
  ...outcomeFields,
  total_cost: nullable(usd()),
  avg_cost_per_run: nullable(usd('US dollars, over the runs that have a cost')),
  last_run_at: nullable(time()),
  created_at: time(),
};

const agentSchema = Type.Object(
  {
    ...agentFields,
    periods: Type.Optional(
      Type.Object(comparedFields, {
        title: 'ComparedPeriods',
        description:
          'The requested period and the previous one, which is as long. Only if a period is requested.',
      }),
    ),
  },
  { title: 'AgentSummary' },
);

export const listAgents = {
  id: 'listAgents',
  method: 'GET',
  path: '/api/v1/agents',
  tag: 'agents',
  summary: 'List agents with their statistics, the most recently active first',
  description:
    'Without parameters, returns an array of all agents. With any parameter, returns one page: an object with `items`, `count`, `page`, `page_size` and `has_more`. With `environment`, `release`, `agent_version` or `repository`, agents with such runs, and statistics of these runs alone. With `start_time` or `end_time`, agents with runs in the period or in the previous one, and statistics of the period, with `periods`.',
  access: 'read',
  query: Type.Object({
    ...optionalPageParameters,
    query: Type.Optional(
      Type.String({ maxLength: 1024, description: 'Substring of the name, case-insensitive.' }),
    ),
    ...dimensionParameters,
    start_time: Type.Optional(time('Started at or after. Absent with `end_time`: a day before the end.')),
    end_time: Type.Optional(time('Started before. Absent with `start_time`: now.')),
    sort: Type.Optional(
      Type.Enum(AGENT_SORTS, {
        description:
          'A field, with `-` for descending order; default: `-last_run_at`. Null comes last; ties are ordered by name.',
      }),
    ),
  }),
  responses: { 200: Type.Union([Type.Array(agentSchema), pageSchema(agentSchema, 'AgentPage')]) },
} satisfies Operation;

const readAgent = {
  id: 'readAgent',
  method: 'GET',
  path: '/api/v1/agents/{agent_id}',
  tag: 'agents',
  summary: 'Get an agent with its statistics',
  access: 'read',
  params: Type.Object({ agent_id: uuid() }),
  query: Type.Object({ estimate: estimateParameter }),
  responses: {
    200: Type.Object(
      {
        ...agentFields,
        success_count: count('Runs with `success` true.'),
        failure_count: count('Runs with `success` false.'),
        estimate: Type.Optional(estimateSchema),
      },
      { title: 'AgentDetail' },
    ),
  },
  errors: [404],
} satisfies Operation;

const listAgentRuns = {
  id: 'listAgentRuns',
  method: 'GET',
  path: '/api/v1/agents/{agent_id}/runs',
  tag: 'agents',
  summary: 'List runs of an agent, newest first',
  access: 'read',
  params: Type.Object({ agent_id: uuid() }),
  query: Type.Object(runParameters),
  responses: { 200: runPageSchema },
  errors: [404],
} satisfies Operation;

/** Similar names in an error. */
const CANDIDATES = 10;

/**
 * Finds the id of an agent for people and programs that name it.
 *
 * @param agent name in any case, or id
 * @returns the reason, as the rest of a sentence, if there is no such agent
 */
export async function findAgentId(
  agent: string,
  api: OperationCaller,
): Promise<{ readonly id: string } | { readonly reason: string }> {
  if (isUuid(agent)) return { id: agent.toLowerCase() };
  const found = await api.call(listAgents, { query: { query: agent, page_size: 100 } });
  const agents = Array.isArray(found) ? found : found.items;
  const wanted = agent.toLowerCase();
  const match =
    agents.find(({ name }) => name === agent) ?? agents.find(({ name }) => name.toLowerCase() === wanted);
  if (match !== undefined) return { id: match.id };
  const similar = agents.slice(0, CANDIDATES).map(({ name }) => JSON.stringify(name));
  const hint = similar.length === 0 ? 'no name contains this text' : `similar: ${similar.join(', ')}`;
  return { reason: `is not the name of an agent; ${hint}` };
}

/** The routes under `/agents`, except the statistics. */
export function agentRoutes({ routes, telemetry, clock }: ApiContext<'agents' | 'runs'>): readonly Route[] {
  return [
    routes.route(listAgents).to(async ({ identity, query, request }) => {
      if (Object.keys(query).length === 0) {
        const agents = await telemetry.agents.list(identity.userId, request.abort);
        return { status: 200, encoded: await longArray(agents, serializeAgent) };
      }
      const { page, page_size, start_time, end_time, ...filter } = query;
      const isOfPeriod = start_time !== undefined || end_time !== undefined;
      const period = isOfPeriod ? { period: stretchOf({ start_time, end_time }, clock.now()) } : {};
      const asked = pageRequest({ page, page_size });
      const { items, count } = await telemetry.agents.find(
        identity.userId,
        { ...filter, ...period },
        pageRange(asked),
        request.abort,
      );
      return { status: 200, json: serializePage(items.map(serializeAgent), count, asked) };
    }),
    routes.route(readAgent).to(async ({ identity, params, query, request }) => {
      const [tenant, id] = [identity.userId, params.agent_id];
      const agent = await telemetry.agents.read(tenant, id, request.abort);
      if (!agent) throw notFound('agent');
      const { success_count, failure_count } = agent;
      const json = { ...serializeAgent(agent), success_count, failure_count };
      if (query.estimate !== true) return { status: 200, json };
      const found = await telemetry.agents.estimate(tenant, id, request.abort);
      if (!found) throw notFound('agent');
      return { status: 200, json: { ...json, estimate: serializeEstimate(found) } };
    }),
    routes.route(listAgentRuns).to(async ({ identity, params, query, request }) => {
      const tenant = identity.userId;
      const filter = { ...runFilter(query), agent_id: params.agent_id };
      const found = await telemetry.runs.list(tenant, filter, pageRange(query), request.abort);
      // Only an empty list can belong to an agent that does not exist.
      if (found.count === 0 && !(await telemetry.agents.read(tenant, params.agent_id, request.abort)))
        throw notFound('agent');
      return { status: 200, encoded: await serializeRuns(found, query) };
    }),
  ];
}

function serializeAgent(agent: AgentSummary): Static<typeof agentSchema> {
  return {
    id: agent.id,
    name: agent.name,
    total_runs: agent.total_runs,
    success_percentage: successPercentage(agent),
    ...serializeOutcomes(agent),
    total_cost: agent.total_cost,
    avg_cost_per_run: agent.avg_cost_per_run,
    last_run_at: formatNullableTime(agent.last_run_at),
    created_at: formatTime(agent.created_at),
    ...(agent.periods && { periods: serializeCompared(agent.periods) }),
  };
}
