import { Type, type Static } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { validationProblem } from '../../http/field-errors.js';
import { formatTime } from '../../signal/time.js';
import {
  GROUP_FIELDS,
  GROUP_SORTS,
  type GroupRequest,
  MOST_COMPARED_GROUPS,
  MOST_GROUPS,
  REGRESSIONS,
  type RunGroup,
} from '../../storage/contracts/run-groups.js';
import type { ApiContext } from '../support/api-context.js';
import { conditionParameters } from '../support/field-conditions.js';
import { count, nullable, time, uuid } from '../support/fields.js';
import { stretchOf } from '../support/intervals.js';
import { comparedFields, serializeCompared } from '../support/period-totals.js';
import { boundParameters, dimensionFilter, dimensionParameters, stateParameters } from '../support/runs.js';
import { scoreParameter } from '../support/score-filter.js';
import { seriesFilter } from './run-series.js';

const DEFAULT_LIMIT = 20;

const groupSchema = Type.Object(
  {
    key: nullable(
      Type.String({
        description:
          'Value of the field; the id of an agent, or the version of a prompt. Null: runs without a value, or calls without a model.',
      }),
    ),
    name: nullable(Type.String({ description: 'Name of the agent or prompt.' })),
    ...comparedFields,
    regressions: Type.Array(Type.Enum(REGRESSIONS), {
      description:
        'What got clearly worse than in the previous period. `failures`: the failure rate rose by 3 percentage points or more, and by more than two standard errors. `success`: the same for the share of negative success signals. `cost`: the cost per run is at least 1.25 times as high. `duration`: the 95th percentile of durations is at least 1.5 times as high. At least 5 runs in each period, for durations 20.',
    }),
  },
  { title: 'RunGroup' },
);

const groupsSchema = Type.Object(
  {
    group_by: Type.Enum(GROUP_FIELDS),
    start_time: time(),
    end_time: time(),
    groups: Type.Array(groupSchema, { description: 'Groups with runs in either period.' }),
    count: count('Number of all groups.'),
    others: nullable(
      Type.Object(comparedFields, {
        title: 'OtherGroups',
        description:
          'The runs in no listed group, without percentiles. Null if there are none, and for tags and prompt versions, because a run may have several.',
      }),
    ),
    ...comparedFields,
  },
  { title: 'RunGroups' },
);

export const readGroups = {
  id: 'readRunGroups',
  method: 'GET',
  path: '/api/v1/dashboard/groups',
  tag: 'traces',
  summary: 'Group runs by a field, with cost, failures and durations, compared with the previous period',
  description: `Runs of agents by their start, in a period and in the previous one, which is as long. \`group_by=model\` groups the model calls of these runs, by their own start and usage; only the agent and the dimensions of runs can select them. Ordered by cost, descending; with \`sort=regression\`, groups that got worse come first. Of more than ${MOST_COMPARED_GROUPS} groups, those with the highest cost are compared.`,
  access: 'read',
  query: Type.Object({
    group_by: Type.Enum(GROUP_FIELDS, { description: 'Field to group by.' }),
    start_time: Type.Optional(time('Started at or after. Absent: a day before the end.')),
    end_time: Type.Optional(time('Started before. Absent: now.')),
    sort: Type.Enum(GROUP_SORTS, { default: 'cost', description: 'Order of the groups.' }),
    limit: Type.Integer({
      minimum: 1,
      maximum: MOST_GROUPS,
      default: DEFAULT_LIMIT,
      description: 'Maximum number of groups; clamped.',
    }),
    agent_id: Type.Optional(uuid('Runs of this agent.')),
    ...dimensionParameters,
    ...stateParameters,
    ...conditionParameters,
    ...scoreParameter,
    ...boundParameters,
  }),
  responses: { 200: groupsSchema },
} satisfies Operation;

/** `/dashboard/groups` */
export function runGroupRoutes({ routes, telemetry, clock }: ApiContext<'groups'>): readonly Route[] {
  return [
    routes.route(readGroups).to(async ({ identity, query, request }) => {
      const { start_time, end_time } = stretchOf(query, clock.now());
      const { group_by, sort, limit, agent_id } = query;
      const selected = seriesFilter(query);
      if (group_by === 'model' && selected.filter !== undefined)
        throw validationProblem('query', [
          {
            field: 'group_by',
            message: 'must not be model with filters other than agent_id and the dimensions of runs',
          },
        ]);
      const asked: GroupRequest = {
        start_time,
        end_time,
        group_by,
        sort,
        limit,
        ...(agent_id === undefined ? {} : { agent_id }),
        ...dimensionFilter(query),
        ...selected,
      };
      const found = await telemetry.groups.read(identity.userId, asked, request.abort);
      return {
        status: 200,
        json: {
          group_by,
          start_time: formatTime(start_time),
          end_time: formatTime(end_time),
          groups: found.groups.map(serializeGroup),
          count: found.count,
          others: found.others && serializeCompared(found.others),
          ...serializeCompared(found),
        },
      };
    }),
  ];
}

function serializeGroup(group: RunGroup): Static<typeof groupSchema> {
  const { key, name, regressions } = group;
  return { key, name, ...serializeCompared(group), regressions: [...regressions] };
}
