import { Type, type Static } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import type { PlacedPrices } from '../../component/prices.js';
import { validationProblem } from '../../http/field-errors.js';
import { SUMMED_PARTS, type SummedPart } from '../../signal/call-details.js';
import { type RepricedCalls, UNPRICEABLE, type Unpriceable } from '../../storage/contracts/runs.js';
import type { ApiContext } from '../support/api-context.js';
import { count, nullable, time, usd, uuid } from '../support/fields.js';
import { generalRule, pricedByFields, serializeRules } from '../support/prices.js';
import { runFilter, dimensionParameters } from '../support/runs.js';

const LONGEST_NAME = 1024;

const LEFT_OUT: Readonly<Record<Unpriceable, string>> = {
  running: 'Calls that have not ended.',
  no_tokens: 'Calls without tokens.',
  no_parts: 'Calls with a total of tokens only.',
  too_large: 'Calls that would cost a million dollars or more each.',
};

const callsSchema = Type.Object(
  {
    calls: count('Calls of the model in the time range, counted as in `GET /dashboard/models`.'),
    priced_calls: count('Calls with a cost.'),
    total_cost: nullable(usd('Their cost in US dollars; null: none has one')),
    repriced_calls: count('Calls with a calculable cost at the other price.'),
    repriced_cost: nullable(usd('Cost in US dollars at the other price; null if there is no price')),
    both_calls: count('Calls that have both; only these can be compared.'),
    both_cost: nullable(usd('Their cost in US dollars')),
    both_repriced_cost: nullable(usd('Their cost in US dollars at the other price')),
    left_out: Type.Object(
      Object.fromEntries(UNPRICEABLE.map((reason) => [reason, count(LEFT_OUT[reason])])) as Record<
        Unpriceable,
        ReturnType<typeof count>
      >,
      { title: 'UnpriceableCalls', description: 'Calls without a calculable cost, by reason.' },
    ),
    tokens: Type.Object(
      Object.fromEntries(SUMMED_PARTS.map((part) => [part, Type.Number()])) as Record<
        SummedPart,
        ReturnType<typeof Type.Number>
      >,
      { title: 'PricedTokens', description: 'Tokens of the repriced calls; each token is in one part.' },
    ),
    long_calls: count('Calls repriced with the rates for long inputs.'),
  },
  { title: 'WhatIfCalls' },
);

export const readWhatIf = {
  id: 'readWhatIf',
  method: 'GET',
  path: '/api/v1/dashboard/models/what-if',
  tag: 'models',
  summary: 'Calculate what a model’s calls would have cost with another model',
  description:
    'Each call is priced with the tokens it used, as processor `cost` would price it. The other model would count, answer and cache differently, so this is an estimate. Prices with more than three decimal places, and prices of cache writes by lifetime, take longer, because every call is read.',
  access: 'read',
  query: Type.Object({
    model: Type.Optional(
      Type.String({
        maxLength: LONGEST_NAME,
        format: 'name',
        description: 'Model that was called, as named by spans. Absent: calls without a model.',
      }),
    ),
    as: Type.String({
      minLength: 1,
      maxLength: LONGEST_NAME,
      format: 'name',
      description: 'The other model.',
    }),
    processor: Type.Optional(
      Type.String({
        description: 'Processor of the prices, as in `GET /dashboard/prices`. Absent: the first one there.',
      }),
    ),
    agent_id: Type.Optional(uuid('Calls in runs of this agent.')),
    ...dimensionParameters,
    start_time: Type.Optional(time('Calls that started at or after.')),
    end_time: Type.Optional(time('Calls that started at or before.')),
  }),
  responses: {
    200: Type.Object(
      {
        model: nullable(Type.String()),
        as: Type.String(),
        processor: nullable(Type.String({ description: 'Processor of the prices; null: there are none.' })),
        ...pricedByFields,
        reason: nullable(
          Type.Enum(['no_prices', 'unknown_model', 'certain_providers'], {
            description:
              'Why there is no price: no pipeline has a processor `cost`; the model is missing in its table; it has prices for certain providers only.',
          }),
        ),
        repriced: nullable(callsSchema),
      },
      { title: 'WhatIf' },
    ),
  },
} satisfies Operation;

/** `/dashboard/models/what-if` */
export function whatIfRoutes({ routes, telemetry, prices }: ApiContext<'models'>): readonly Route[] {
  return [
    routes.route(readWhatIf).to(async ({ identity, query, request }) => {
      const { as, agent_id } = query;
      const model = query.model === undefined || query.model === '' ? null : query.model;
      const source = sourceOf(prices(), query.processor);
      const rules = source?.rulesOf(as) ?? [];
      const rule = generalRule(rules);
      const json = { model, as, processor: source?.processor ?? null, ...serializeRules(rules) };
      if (rule === undefined) {
        const reason =
          source === undefined ? 'no_prices' : rules.length === 0 ? 'unknown_model' : 'certain_providers';
        return { status: 200, json: { ...json, reason, repriced: null } };
      }
      const filter = { ...runFilter(query), ...(agent_id === undefined ? {} : { agent_id }), model };
      const { userId } = identity;
      const repriced = await telemetry.models.reprice(userId, filter, rule.price, request.abort);
      return { status: 200, json: { ...json, reason: null, repriced: serializeCalls(repriced) } };
    }),
  ];
}

/** @throws HttpProblem 422 if the processor does not exist */
function sourceOf(sources: readonly PlacedPrices[], id: string | undefined): PlacedPrices | undefined {
  if (id === undefined) return sources[0];
  const found = sources.find(({ processor }) => processor === id);
  if (found) return found;
  const known = sources.map(({ processor }) => processor).join(', ');
  throw validationProblem('query', [
    { field: 'processor', message: known === '' ? 'unknown: none has prices' : `must be one of: ${known}` },
  ]);
}

function serializeCalls({ left_out, tokens, ...stats }: RepricedCalls): Static<typeof callsSchema> {
  return { ...stats, left_out: { ...left_out }, tokens: { ...tokens } };
}
