import { Type, type Static } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { formatTime } from '../../signal/time.js';
import {
  MOST_NAMED,
  type ModelPerformance,
  type ModelUsage,
  type ToolUsage,
} from '../../storage/contracts/runs.js';
import type { ApiContext } from '../support/api-context.js';
import { count, nullable, time, usd, uuid } from '../support/fields.js';
import { stretchOf } from '../support/intervals.js';
import { pageParameters, pageRange, pageSchema, serializePage } from '../support/paging.js';
import { dimensionFilter, dimensionParameters, runFilter } from '../support/runs.js';

/** A figure that needs calls with a value. */
const measured = (description: string) => nullable(Type.Number({ description }));

const performanceSchema = Type.Object(
  {
    failed_calls: count('Calls with status `failed` or `timed_out`.'),
    p50_ms: measured('Median duration, interpolated; null: no call has a duration.'),
    p95_ms: measured('95th percentile of durations, interpolated.'),
    first_chunk_ms: measured(
      'Median time to the first chunk of the answer, over the calls that report it; null: none does.',
    ),
    tokens_per_second: measured(
      'Output tokens per second of call duration, over the calls with both; null: there are none.',
    ),
    without_tokens: count('Calls without a cost, because they report no tokens.'),
    without_price: count('Calls without a cost, although they report tokens: their model has no price.'),
    agents: Type.Array(
      Type.Object({
        id: uuid(),
        name: Type.String(),
        calls: count(),
        total_cost: nullable(usd('US dollars; null: nothing has a cost')),
      }),
      { description: `Agents of its calls, the highest cost first; at most ${MOST_NAMED}.` },
    ),
  },
  {
    title: 'ModelPerformance',
    description: 'Outcomes and durations of the calls. Only if requested.',
  },
);

const modelSchema = Type.Object(
  {
    model: nullable(
      Type.String({
        description:
          'Null: calls without a model, and usage that spans without a model report beyond the calls below them.',
      }),
    ),
    calls: count(
      'Spans of type `llm`. A call reported by several instrumentations, or with parts below it, counts once, under the model of the span that counts.',
    ),
    priced_calls: count('Calls with a cost, reported or priced; may be fewer than `calls`.'),
    input_tokens: Type.Number(),
    output_tokens: Type.Number(),
    total_tokens: Type.Number(),
    total_cost: nullable(usd('US dollars; null: nothing has a cost')),
    first_call_at: time(),
    last_call_at: time('Both refer to the start of calls, or of other spans that report usage.'),
    performance: Type.Optional(performanceSchema),
  },
  { title: 'ModelUsage' },
);

const listModels = {
  id: 'listModels',
  method: 'GET',
  path: '/api/v1/dashboard/models',
  tag: 'models',
  summary: 'List models with their calls, tokens and cost, most expensive first',
  description:
    'All runs of the user, also those of kind `other`, such as calls of judges; with `agent_id` those of the agent. Tokens and cost add up to those of the runs: what an agent or tool reports beyond the calls below it counts for its model, without a call. Ordered by `total_cost`, then `calls`, descending. Models that are not in the price table have no cost.',
  access: 'read',
  query: Type.Object({
    ...pageParameters,
    agent_id: Type.Optional(uuid('Calls in runs of this agent.')),
    ...dimensionParameters,
    start_time: Type.Optional(time('Calls that started at or after.')),
    end_time: Type.Optional(time('Calls that started at or before.')),
    performance: Type.Optional(
      Type.Boolean({ description: 'Adds `performance`, for which all calls are read: slower than sums.' }),
    ),
  }),
  responses: { 200: pageSchema(modelSchema, 'ModelUsagePage') },
} satisfies Operation;

const calls = {
  calls: count(),
  failed_calls: count('Calls with status `failed` or `timed_out`.'),
};

const toolSchema = Type.Object(
  {
    tool: Type.String({ description: 'Name of the spans.' }),
    ...calls,
    p50_ms: nullable(
      Type.Number({ description: 'Median duration, interpolated; null: no call has a duration.' }),
    ),
    p95_ms: nullable(Type.Number({ description: '95th percentile of durations, interpolated.' })),
    last_call_at: time('The start of the last call.'),
    agents: Type.Array(Type.Object({ id: uuid(), name: Type.String(), ...calls }), {
      description: `Agents of its calls, most calls first; at most ${MOST_NAMED}.`,
    }),
  },
  { title: 'ToolUsage' },
);

const listTools = {
  id: 'listTools',
  method: 'GET',
  path: '/api/v1/dashboard/tools',
  tag: 'models',
  summary: 'List tools with their calls, failures and durations, most calls first',
  description:
    'Tools as agents call them: spans of type `tool`, by name. Ordered by `calls`, descending, then name. By default, the time range is the last day.',
  access: 'read',
  query: Type.Object({
    ...pageParameters,
    agent_id: Type.Optional(uuid('Calls in runs of this agent.')),
    ...dimensionParameters,
    start_time: Type.Optional(time('Calls that started at or after; by default, one day before the end.')),
    end_time: Type.Optional(time('Calls that started at or before; by default, now.')),
  }),
  responses: { 200: pageSchema(toolSchema, 'ToolUsagePage') },
} satisfies Operation;

/** `/dashboard/models` and `/dashboard/tools` */
export function modelRoutes({ routes, telemetry, clock }: ApiContext<'models'>): readonly Route[] {
  return [
    routes.route(listModels).to(async ({ identity, query, request }) => {
      const { agent_id } = query;
      const filter = { ...runFilter(query), ...(agent_id === undefined ? {} : { agent_id }) };
      const { items, count: total } = await telemetry.models.list(
        identity.userId,
        filter,
        pageRange(query),
        request.abort,
      );
      const found =
        query.performance === true
          ? await telemetry.models.performance(
              identity.userId,
              filter,
              items.map(({ model }) => model),
              request.abort,
            )
          : [];
      const json = items.map((usage) => {
        const performance = found.find(({ model }) => model === usage.model);
        return {
          ...serializeModel(usage),
          ...(performance && { performance: serializePerformance(performance) }),
        };
      });
      return { status: 200, json: serializePage(json, total, query) };
    }),
    routes.route(listTools).to(async ({ identity, query, request }) => {
      const { agent_id } = query;
      const filter = {
        ...dimensionFilter(query),
        ...stretchOf(query, clock.now()),
        ...(agent_id === undefined ? {} : { agent_id }),
      };
      const { items, count: total } = await telemetry.models.tools(
        identity.userId,
        filter,
        pageRange(query),
        request.abort,
      );
      return { status: 200, json: serializePage(items.map(serializeTool), total, query) };
    }),
  ];
}

function serializeTool({ last_call_at, agents, ...usage }: ToolUsage): Static<typeof toolSchema> {
  return { ...usage, last_call_at: formatTime(last_call_at), agents: [...agents] };
}

function serializePerformance(found: ModelPerformance): Static<typeof performanceSchema> {
  return {
    failed_calls: found.failed_calls,
    p50_ms: found.p50_ms,
    p95_ms: found.p95_ms,
    first_chunk_ms: found.first_chunk_ms,
    tokens_per_second: found.tokens_per_second,
    without_tokens: found.without_tokens,
    without_price: found.without_price,
    agents: [...found.agents],
  };
}

function serializeModel(usage: ModelUsage): Static<typeof modelSchema> {
  return {
    model: usage.model,
    calls: usage.calls,
    priced_calls: usage.priced_calls,
    input_tokens: usage.input_tokens,
    output_tokens: usage.output_tokens,
    total_tokens: usage.total_tokens,
    total_cost: usage.total_cost,
    first_call_at: formatTime(usage.first_call_at),
    last_call_at: formatTime(usage.last_call_at),
  };
}
