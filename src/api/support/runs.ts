import { Type } from 'typebox';
import { MAX_IDENTITY, MAX_TAG } from '../../signal/run-context.js';
import { RUN_KINDS, RUN_STATUSES, type RunKind } from '../../signal/span.js';
import { moneyToNumber, NANOS, parseMoney, type NanoUsd } from '../../signal/money.js';
import { parseTime } from '../../signal/time.js';
import { serializeRun } from '../../storage/shared/serialize-run.js';
import type { FoundRuns, RunFilter, DimensionFilter } from '../../storage/contracts/runs.js';
import { count, nullable, time, usd, uuid } from './fields.js';
import { longList, pagesFrom } from './long-body.js';
import { pageStats, pageParameters, pageSchema, type PageRequest } from './paging.js';

/** The fields of a run wherever it is shown: in lists and, with its spans, in the trace detail. */
export const runFields = {
  trace_id: uuid(),
  agent_name: Type.String(),
  kind: Type.Enum(RUN_KINDS, {
    description:
      '`agent`: a run of an agent. `other`: something else, such as a request to a service, which counts for no agent.',
  }),
  session_id: nullable(Type.String({ description: 'Session that the run belongs to.' })),
  user_id: nullable(Type.String({ description: 'End user of the run, as sent.' })),
  tags: Type.Array(Type.String()),
  environment: nullable(Type.String({ description: 'Environment of the deployment, such as `production`.' })),
  release: nullable(Type.String({ description: 'Deployed version of the program.' })),
  agent_version: nullable(Type.String({ description: 'Version of the agent.' })),
  repository: nullable(
    Type.String({ description: 'Repository that the agent worked on, such as `owner/name`.' }),
  ),
  status: Type.Enum(RUN_STATUSES, {
    description:
      '`timed_out`: sent as such, or a span has not ended and nothing new came for too long; later spans may still change it.',
  }),
  started_at: time('Unless declared, the earliest start of its spans.'),
  ended_at: nullable(time('Unless declared, the latest end of its spans. Null while running.')),
  duration_ms: nullable(Type.Number()),
  success: nullable(Type.Boolean({ description: 'Null: not set yet.' })),
  outcome: nullable(Type.String()),
  error_message: nullable(Type.String()),
  total_tokens: nullable(Type.Number()),
  total_cost_usd: nullable(usd()),
  sample_rate: nullable(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 1,
      description:
        'Fraction of similar runs that sampling keeps: the run stands for 1 / `sample_rate` runs; 1 if a condition kept it. Null: no sampling known.',
    }),
  ),
};

export const runSchema = Type.Object({ ...runFields, span_count: count() }, { title: 'Run' });

export const runPageSchema = pageSchema(runSchema, 'RunPage');

/** A session's or a user's id, which may be any text. */
export function identity(description: string) {
  return Type.String({ maxLength: MAX_IDENTITY, description });
}

/** Selects runs by kind. */
export const kindParameter = Type.Optional(
  Type.Enum([...RUN_KINDS, 'all'], {
    default: 'agent',
    description: 'Kind of runs: of agents, others, or all.',
  }),
);

/** Query parameters by which all lists and series select runs. */
export const dimensionParameters = {
  environment: Type.Optional(identity('Runs in this environment.')),
  release: Type.Optional(identity('Runs of this release of the program.')),
  agent_version: Type.Optional(identity('Runs of this version of the agent.')),
  repository: Type.Optional(identity('Runs that worked on this repository.')),
};

/** Builds a filter from {@link dimensionParameters}. */
export function dimensionFilter({
  environment,
  release,
  agent_version,
  repository,
}: DimensionFilter): DimensionFilter {
  return {
    ...(environment === undefined ? {} : { environment }),
    ...(release === undefined ? {} : { release }),
    ...(agent_version === undefined ? {} : { agent_version }),
    ...(repository === undefined ? {} : { repository }),
  };
}

const duration = (description: string) => Type.Optional(Type.Number({ minimum: 0, description }));
/** The maximum cost of a run; the sum of its spans is capped at this. */
const MOST_USD = moneyToNumber(Number.MAX_SAFE_INTEGER);
const cost = (description: string) =>
  Type.Optional(Type.Number({ minimum: 0, maximum: MOST_USD, description: `${description} US dollars.` }));

/** Query parameters for bounds of duration and cost. */
export const boundParameters = {
  min_duration_ms: duration('Minimum duration. Runs without a duration do not match.'),
  max_duration_ms: duration('Maximum duration.'),
  min_cost: cost('Minimum cost. Runs without a cost do not match.'),
  max_cost: cost('Maximum cost.'),
};

/** Builds a filter from {@link boundParameters}. */
export function boundFilter({
  min_duration_ms,
  max_duration_ms,
  min_cost,
  max_cost,
}: {
  readonly [Name in keyof typeof boundParameters]?: number;
}): Pick<RunFilter, keyof typeof boundParameters> {
  return {
    ...(min_duration_ms === undefined ? {} : { min_duration_ms }),
    ...(max_duration_ms === undefined ? {} : { max_duration_ms }),
    ...(min_cost === undefined ? {} : { min_cost: nanos(min_cost) }),
    ...(max_cost === undefined ? {} : { max_cost: nanos(max_cost) }),
  };
}

/** Sums may exceed the maximum of an amount. */
function nanos(usd: number): NanoUsd {
  return parseMoney(usd) ?? Math.min(Math.round(usd * NANOS), Number.MAX_SAFE_INTEGER);
}

/** Query parameters for the state and the context of runs. */
export const stateParameters = {
  status: Type.Optional(Type.Enum(RUN_STATUSES)),
  success: Type.Optional(Type.Boolean()),
  session_id: Type.Optional(identity('Runs of this session.')),
  user_id: Type.Optional(identity('Runs for this end user.')),
  tag: Type.Optional(Type.String({ maxLength: MAX_TAG, description: 'Runs that have this tag.' })),
};

/** Query parameters by which lists and searches select runs. */
export const runFilterParameters = {
  kind: kindParameter,
  ...stateParameters,
  ...dimensionParameters,
  start_time: Type.Optional(time('Started at or after.')),
  end_time: Type.Optional(time('Started at or before.')),
};

/** Query parameters of the lists of runs. */
export const runParameters = { ...pageParameters, ...runFilterParameters };

/** Builds a run filter from the validated parameters of a list. */
export function runFilter(
  query: DimensionFilter & {
    readonly kind?: RunKind | 'all';
    readonly status?: RunFilter['status'];
    readonly success?: boolean;
    readonly session_id?: string;
    readonly user_id?: string;
    readonly tag?: string;
    readonly start_time?: string;
    readonly end_time?: string;
  },
): RunFilter {
  const start = query.start_time === undefined ? undefined : parseTime(query.start_time);
  const end = query.end_time === undefined ? undefined : parseTime(query.end_time);
  const kind = query.kind ?? 'agent';
  return {
    ...(kind === 'all' ? {} : { kind }),
    ...(query.status === undefined ? {} : { status: query.status }),
    ...(query.success === undefined ? {} : { success: query.success }),
    ...(query.session_id === undefined ? {} : { session_id: query.session_id }),
    ...(query.user_id === undefined ? {} : { user_id: query.user_id }),
    ...(query.tag === undefined ? {} : { tag: query.tag }),
    ...dimensionFilter(query),
    ...(start === undefined ? {} : { start_time: start }),
    ...(end === undefined ? {} : { end_time: end }),
  };
}

/**
 * A page of runs, in chunks if their texts are long.
 *
 * @param shown fields written before the runs
 * @throws ConsumeError if the store fails while the first part is read.
 */
export async function serializeRuns(
  { items, count, rest }: FoundRuns,
  request: PageRequest,
  shown: object = {},
): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  const stats = JSON.stringify(pageStats(items.length + (rest?.runs ?? 0), count, request));
  const head = JSON.stringify(shown).slice(0, -1);
  const start = `${head}${head === '{' ? '' : ','}"items":[`;
  return await longList(start, pagesFrom(items, rest?.pages), serializeRun, `],${stats.slice(1)}`);
}
