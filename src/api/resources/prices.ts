import { Type } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import type { ApiContext } from '../support/api-context.js';
import { time, uuid } from '../support/fields.js';
import { pricedByFields, serializeRules } from '../support/prices.js';
import { runFilter } from '../support/runs.js';

/** Maximum number of used models listed, most expensive first. */
const MOST_USED = 500;

const listPrices = {
  id: 'listPrices',
  method: 'GET',
  path: '/api/v1/dashboard/prices',
  tag: 'models',
  summary: 'List the prices of model calls that report tokens but no cost',
  description: `Lists up to ${MOST_USED} models that the caller used, the most expensive first, then the other models of the price tables, with one name per entry. Prices come from the processors \`cost\` in pipelines that write to the queried store, in the order of the configuration, or from all pipelines if none of these has one. With several processors, a model has a row for each: a call is priced by the pipeline that receives it. Without a processor \`cost\`, the list is empty.`,
  access: 'read',
  query: Type.Object({
    agent_id: Type.Optional(uuid('Only models used in runs of this agent.')),
    start_time: Type.Optional(time('Only models used at or after this time.')),
    end_time: Type.Optional(time('Only models used at or before this time.')),
  }),
  responses: {
    200: Type.Array(
      Type.Object(
        {
          model: Type.String({ description: 'Model name, as in spans.' }),
          is_used: Type.Boolean({ description: 'Whether the caller used it in the time range.' }),
          processor: Type.String({ description: 'Id of the processor, as configured.' }),
          pipelines: Type.Array(Type.String(), { description: 'Pipelines that contain the processor.' }),
          ...pricedByFields,
        },
        { title: 'ModelPrice' },
      ),
    ),
  },
} satisfies Operation;

/** `/dashboard/prices` */
export function priceRoutes({ routes, telemetry, prices }: ApiContext<'models'>): readonly Route[] {
  return [
    routes.route(listPrices).to(async ({ identity, query, request }) => {
      const sources = prices();
      if (sources.length === 0) return { status: 200, json: [] };
      const { agent_id } = query;
      const filter = { ...runFilter(query), ...(agent_id === undefined ? {} : { agent_id }) };
      const page = { offset: 0, limit: MOST_USED };
      const { items } = await telemetry.models.list(identity.userId, filter, page, request.abort);
      const used = new Set(items.flatMap(({ model }) => (model === null || model === '' ? [] : [model])));
      const known = sources.flatMap(({ models }) => models);
      const json = [...new Set([...used, ...known])].flatMap((model) =>
        sources.flatMap((source) => {
          const { processor, pipelines } = source;
          const rules = source.rulesOf(model);
          // An unused model is listed only for price tables that contain it.
          if (rules.length === 0 && !used.has(model)) return [];
          const row = { model, is_used: used.has(model), processor, pipelines: [...pipelines] };
          return [{ ...row, ...serializeRules(rules) }];
        }),
      );
      return { status: 200, json };
    }),
  ];
}
