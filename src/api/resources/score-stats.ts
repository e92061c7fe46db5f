import { Type, type Static } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { validationProblem } from '../../http/field-errors.js';
import { MAX_NAME, storableName } from '../../signal/names.js';
import { formatTime, parseTime } from '../../signal/time.js';
import {
  MOST_LABELS,
  MOST_SCORE_GROUPS,
  SCORE_GROUPS,
  type ScoreGroup,
  type ScoreRequest,
} from '../../storage/contracts/scores.js';
import type { ApiContext } from '../support/api-context.js';
import { nullable, time, uuid } from '../support/fields.js';
import { INTERVALS, intervalOf, stretchOf, type Interval } from '../support/intervals.js';
import { dimensionFilter, dimensionParameters } from '../support/runs.js';
import { scoreTotals } from '../support/scores.js';
import { promptName } from './prompts.js';

const NAMES = ['1m', '5m', '1h', '1d'] as const satisfies readonly Interval[];

const groupSchema = Type.Object(
  {
    name: Type.String({ description: 'Name of the scores.' }),
    key: nullable(
      Type.String({
        description:
          'Id of the agent, the model, the version of the prompt, the environment, the release or the version of the agent. Null: none, or not grouped.',
      }),
    ),
    agent_name: nullable(Type.String({ description: 'Name of the agent, with `by=agent`.' })),
    ...scoreTotals,
    labels: Type.Array(Type.Object({ label: Type.String(), scores: Type.Integer({ minimum: 1 }) }), {
      description: `The ${MOST_LABELS} most frequent labels.`,
    }),
    buckets: Type.Array(Type.Object({ start: time(), ...scoreTotals }, { title: 'ScoreBucket' }), {
      description: 'Non-empty buckets in order; empty without `interval`.',
    }),
  },
  { title: 'ScoreGroup' },
);

const readScores = {
  id: 'readScores',
  method: 'GET',
  path: '/api/v1/dashboard/scores',
  tag: 'traces',
  summary: 'Get means and counts of scores',
  description:
    'Scores of runs of agents, of their spans and of their responses by the start of the run, so that late scores count where they belong. A score corrected by its id counts once, in its newest form. `by=model` uses the model of the judged span; a score of a run, or of a span without a model, counts for each model of the run. With `by=prompt_version` a score counts for each version that its run used.',
  access: 'read',
  query: Type.Object({
    by: Type.Optional(Type.Enum(SCORE_GROUPS, { description: 'Absent: one group per name.' })),
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: MAX_NAME, description: 'Scores of this name, exactly.' }),
    ),
    start_time: Type.Optional(
      time('Runs started at or after. Absent: all, or with `interval` the last day.'),
    ),
    end_time: Type.Optional(time('Runs started before.')),
    interval: Type.Optional(
      Type.Enum(['auto', ...NAMES], {
        description: 'Adds buckets of this width. `auto`: as for `/dashboard/series`. Absent: no buckets.',
      }),
    ),
    agent_id: Type.Optional(uuid('Scores of runs of this agent.')),
    prompt_name: Type.Optional(promptName('Scores of runs that used this prompt, in any version.')),
    ...dimensionParameters,
  }),
  responses: {
    200: Type.Object(
      {
        interval: nullable(Type.Enum(NAMES)),
        items: Type.Array(groupSchema, {
          description: `Most scores first, then by name; at most ${MOST_SCORE_GROUPS}.`,
        }),
      },
      { title: 'ScoreStats' },
    ),
  },
} satisfies Operation;

type Query = Static<(typeof readScores)['query']>;
type Width = (typeof NAMES)[number];

/** `GET /dashboard/scores` */
export function scoreStatsRoutes({ routes, telemetry, clock }: ApiContext<'scores'>): readonly Route[] {
  return [
    routes.route(readScores).to(async ({ identity, query, request }) => {
      const { width, ...asked } = requestOf(query, clock.now());
      const groups = await telemetry.scores.groups(identity.userId, asked, request.abort);
      return { status: 200, json: { interval: width, items: groups.map(serializeGroup) } };
    }),
  ];
}

/** @throws HttpProblem 422 */
function requestOf(query: Query, now: number): ScoreRequest & { readonly width: Width | null } {
  const { by, name, agent_id, prompt_name } = query;
  if (by === 'prompt_version' && prompt_name === undefined)
    throw validationProblem('query', [
      { field: 'prompt_name', message: 'is required for by=prompt_version' },
    ]);
  return {
    ...timesOf(query, now),
    ...dimensionFilter(query),
    ...(by === undefined ? {} : { group_by: by }),
    ...(name === undefined ? {} : { name: storableName(name) }),
    ...(agent_id === undefined ? {} : { agent_id }),
    ...(prompt_name === undefined ? {} : { prompt: prompt_name }),
  };
}

/** Buckets need both ends. */
function timesOf({ interval, ...query }: Query, now: number) {
  if (interval !== undefined) {
    const stretch = stretchOf(query, now);
    const width = intervalOf(NAMES, interval, stretch.end_time - stretch.start_time);
    return { ...stretch, width, interval: INTERVALS[width] };
  }
  const [start_time, end_time] = [query.start_time, query.end_time].map((text) => text && parseTime(text));
  return {
    width: null,
    ...(typeof start_time === 'number' && { start_time }),
    ...(typeof end_time === 'number' && { end_time }),
  };
}

function serializeGroup({ agent, key, buckets, ...group }: ScoreGroup): Static<typeof groupSchema> {
  return {
    ...group,
    key: agent?.id ?? key,
    agent_name: agent?.name ?? null,
    labels: [...group.labels],
    buckets: buckets.map(({ start, ...totals }) => ({ start: formatTime(start), ...totals })),
  };
}
