import { Type } from 'typebox';
import { RUN_KINDS, RUN_STATUSES, type RunKind } from '../../signal/span.js';
import { parseTime } from '../../signal/time.js';
import { printRun } from '../../storage/print-run.js';
import type { FoundRuns, RunFilter } from '../../storage/runs.js';
import { count, nullable, time, usd, uuid } from './fields.js';
import { longList, pagesFrom } from './long-body.js';
import { pageFigures, pageParameters, pageSchema, type PageRequest } from './paging.js';

/** The fields of a run wherever it is shown: in lists and, with its spans, in the trace detail. */
export const runFields = {
  trace_id: uuid(),
  agent_name: Type.String(),
  kind: Type.Enum(RUN_KINDS, {
    description:
      '`agent`: a run of an agent. `other`: something else that was sent, such as a request to a service, which counts in no figure of an agent.',
  }),
  status: Type.Enum(RUN_STATUSES),
  started_at: time(),
  ended_at: nullable(time()),
  duration_ms: nullable(Type.Number()),
  success: nullable(Type.Boolean({ description: 'Null: not set yet.' })),
  outcome: nullable(Type.String()),
  error_message: nullable(Type.String()),
  total_tokens: nullable(Type.Number()),
  total_cost_usd: nullable(usd()),
};

const runSchema = Type.Object({ ...runFields, span_count: count() }, { title: 'Run' });

export const runPageSchema = pageSchema(runSchema, 'RunPage');

/** Query parameters of the lists of runs. */
export const runParameters = {
  ...pageParameters,
  kind: Type.Optional(
    Type.Enum([...RUN_KINDS, 'all'], {
      default: 'agent',
      description: 'Which runs: those of agents, others, or all.',
    }),
  ),
  status: Type.Optional(Type.Enum(RUN_STATUSES)),
  success: Type.Optional(Type.Boolean()),
  start_time: Type.Optional(time('Started at or after.')),
  end_time: Type.Optional(time('Started at or before.')),
};

/** The filter that the checked parameters of a list ask for. */
export function runFilter(query: {
  readonly kind?: RunKind | 'all';
  readonly status?: RunFilter['status'];
  readonly success?: boolean;
  readonly start_time?: string;
  readonly end_time?: string;
}): RunFilter {
  const start = query.start_time === undefined ? undefined : parseTime(query.start_time);
  const end = query.end_time === undefined ? undefined : parseTime(query.end_time);
  const kind = query.kind ?? 'agent';
  return {
    ...(kind === 'all' ? {} : { kind }),
    ...(query.status === undefined ? {} : { status: query.status }),
    ...(query.success === undefined ? {} : { success: query.success }),
    ...(start === undefined ? {} : { start_time: start }),
    ...(end === undefined ? {} : { end_time: end }),
  };
}

/**
 * A page of runs, in pieces where their texts are long.
 *
 * @throws ConsumeError what the store throws while the first part is read.
 */
export async function printRuns(
  { items, count, rest }: FoundRuns,
  request: PageRequest,
): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  const figures = JSON.stringify(pageFigures(items.length + (rest?.runs ?? 0), count, request));
  return await longList('{"items":[', pagesFrom(items, rest?.pages), printRun, `],${figures.slice(1)}`);
}
