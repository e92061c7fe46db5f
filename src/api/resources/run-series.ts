import { Type, type Static } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { validationProblem } from '../../http/field-errors.js';
import { formatTime } from '../../signal/time.js';
import {
  MOST_SERIES,
  type RunSeries,
  SERIES_GROUPS,
  type SeriesRequest,
} from '../../storage/contracts/runs.js';
import type { ApiContext } from '../support/api-context.js';
import { nullable, time, uuid } from '../support/fields.js';
import { INTERVALS, intervalOf, intervalParameter, stretchOf, type Interval } from '../support/intervals.js';
import { conditionFilter, conditionParameters } from '../support/field-conditions.js';
import {
  boundFilter,
  boundParameters,
  dimensionFilter,
  dimensionParameters,
  stateParameters,
} from '../support/runs.js';
import { totalFields } from '../support/period-totals.js';
import { scoreFilter, scoreParameter } from '../support/score-filter.js';
import { promptName } from './prompts.js';

const NAMES = ['1m', '5m', '1h', '1d'] as const satisfies readonly Interval[];

const totalSchema = Type.Object(totalFields, { title: 'RunTotals' });

const seriesSchema = Type.Object(
  {
    interval: Type.Enum(NAMES),
    start_time: time(),
    end_time: time(),
    groups: Type.Array(
      Type.Object(
        {
          key: nullable(
            Type.String({
              description:
                'Id of the agent, the status, the model (empty: calls without a model), or the version. Null: all runs, or those in no other group.',
            }),
          ),
          name: nullable(Type.String({ description: 'Name of the agent.' })),
          total: {
            ...nullable(totalSchema),
            description: 'Over all buckets of the group; null for calls, and for the group of all others.',
          },
          buckets: Type.Array(Type.Object({ start: time(), ...totalFields }, { title: 'RunBucket' }), {
            description: 'Non-empty buckets in order.',
          }),
        },
        { title: 'RunSeries' },
      ),
      { description: `Most runs first; at most ${MOST_SERIES}, and one for all others.` },
    ),
    total: totalSchema,
    previous_total: totalSchema,
  },
  { title: 'RunSeriesList' },
);

const readSeries = {
  id: 'readRunSeries',
  method: 'GET',
  path: '/api/v1/dashboard/series',
  tag: 'traces',
  summary: 'Get runs over time, with the previous period',
  description:
    'Runs of agents by their start, in buckets that begin at full minutes, hours or days in UTC; `previous_total` covers the preceding period of equal length. Each stored run counts once, regardless of sampling. `group_by=model` groups the model calls of these runs, by their own start and usage; of the filters only agent and versions apply to its groups. `group_by=prompt_version` requires `prompt_name`; a run that used several versions is in several groups.',
  access: 'read',
  query: Type.Object({
    start_time: Type.Optional(time('Started at or after. Absent: a day before the end.')),
    end_time: Type.Optional(time('Started before. Absent: now.')),
    interval: intervalParameter(NAMES),
    group_by: Type.Optional(Type.Enum(SERIES_GROUPS)),
    agent_id: Type.Optional(uuid('Runs of this agent.')),
    ...dimensionParameters,
    ...stateParameters,
    ...conditionParameters,
    ...scoreParameter,
    ...boundParameters,
    prompt_name: Type.Optional(promptName('Runs that used this prompt, in any version.')),
  }),
  responses: { 200: seriesSchema },
} satisfies Operation;

/** `/dashboard/series` */
export function runSeriesRoutes({ routes, telemetry, clock }: ApiContext<'series'>): readonly Route[] {
  return [
    routes.route(readSeries).to(async ({ identity, query, request }) => {
      const { start_time, end_time } = stretchOf(query, clock.now());
      checkGroup(query);
      const interval = intervalOf(NAMES, query.interval ?? 'auto', end_time - start_time);
      const asked: SeriesRequest = {
        start_time,
        end_time,
        interval: INTERVALS[interval],
        ...(query.group_by === undefined ? {} : { group_by: query.group_by }),
        ...(query.agent_id === undefined ? {} : { agent_id: query.agent_id }),
        ...dimensionFilter(query),
        ...seriesFilter(query),
        ...(query.prompt_name === undefined ? {} : { prompt: query.prompt_name }),
      };
      const { groups, total, previous_total } = await telemetry.series.read(
        identity.userId,
        asked,
        request.abort,
      );
      const times = { start_time: formatTime(start_time), end_time: formatTime(end_time) };
      return {
        status: 200,
        json: { interval, ...times, groups: groups.map(serializeSeries), total, previous_total },
      };
    }),
  ];
}

type SelectedRuns = Pick<
  Static<(typeof readSeries)['query']>,
  | keyof typeof stateParameters
  | keyof typeof conditionParameters
  | keyof typeof scoreParameter
  | keyof typeof boundParameters
>;

/** The conditions that only some series need; reading them takes longer. */
export function seriesFilter(query: SelectedRuns): Pick<SeriesRequest, 'filter'> {
  const { status, success, session_id, user_id, tag } = query;
  const filter = {
    ...(status === undefined ? {} : { status }),
    ...(success === undefined ? {} : { success }),
    ...(session_id === undefined ? {} : { session_id }),
    ...(user_id === undefined ? {} : { user_id }),
    ...(tag === undefined ? {} : { tag }),
    ...conditionFilter(query),
    ...scoreFilter(query),
    ...boundFilter(query),
  };
  return Object.keys(filter).length === 0 ? {} : { filter };
}

/** @throws HttpProblem 422 if the group conflicts with other parameters */
function checkGroup({ group_by, prompt_name }: Static<(typeof readSeries)['query']>): void {
  if (group_by === 'prompt_version' && prompt_name === undefined)
    throw validationProblem('query', [
      { field: 'prompt_name', message: 'is required for group_by=prompt_version' },
    ]);
  if (group_by === 'model' && prompt_name !== undefined)
    throw validationProblem('query', [
      { field: 'prompt_name', message: 'must be absent with group_by=model' },
    ]);
}

function serializeSeries({
  agent,
  status,
  model,
  prompt_version,
  total,
  buckets,
}: RunSeries): Static<typeof seriesSchema>['groups'][number] {
  return {
    key: agent?.id ?? status ?? model ?? prompt_version?.toString() ?? null,
    name: agent?.name ?? null,
    total,
    buckets: buckets.map(({ start, ...stats }) => ({ start: formatTime(start), ...stats })),
  };
}
