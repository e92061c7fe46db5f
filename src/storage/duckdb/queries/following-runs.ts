import type { RunFilter, RunPlace } from '../../runs.js';
import { TRACES } from '../../tables.js';
import type { Agents } from '../figures/agents.js';
import type { RunFigures } from '../figures/run-figures.js';
import type { Row } from '../files/connection.js';
import type { Read } from '../reads/read.js';
import { newest } from '../rows/relation.js';
import { TraceId } from '../rows/trace-id.js';
import { conditions, isWholeList, orderOf, readRunsAt, whereMatching, type RunsPart } from './runs.js';

/** Runs behind a place, and the place of the last of them; null where no others follow. */
export type FollowingPart = RunsPart & { readonly next: RunPlace | null };

/** The runs of a list behind a place, not counted. */
export async function followRuns(
  read: Read,
  known: { readonly agents: Agents; readonly figures: RunFigures },
  tenant: number,
  filter: RunFilter,
  { after, limit }: { readonly after: RunPlace | null; readonly limit: number },
): Promise<FollowingPart> {
  const { agents, figures } = known;
  const matching = conditions(agents, tenant, filter);
  if (matching === null) return { items: [], rest: [], next: null };
  const { sql, list } = matching;
  // One more than wanted says whether others follow.
  const most = limit + 1;
  const isFirst = after === null && list !== null && isWholeList(filter);
  if (isFirst) await figures.loadStarts(read, list, most);
  return await read(async (connection, capture) => {
    const since = isFirst ? figures.nthNewest(list, most) : null;
    const from = since === null ? behind(filter, after) : `started_at >= make_timestamp(${since})`;
    const isOf = `tenant = ${tenant} AND ${sql} AND ${from}`;
    const { where, values } = await whereMatching(connection, capture, isOf, filter, matching);
    const order = orderOf(filter);
    const keys = await connection.rows(
      `SELECT seq, trace_id::VARCHAR AS id, epoch_us(started_at) AS start, ${filter.sort ?? 'NULL'} AS value
       FROM ${newest(capture, TRACES, where)} ORDER BY ${order} LIMIT ${most}`,
      values,
    );
    const wanted = keys.slice(0, limit).map(({ id, seq }) => ({ id: String(id), seq: Number(seq) }));
    const last = keys.length > limit ? keys[limit - 1] : undefined;
    const found = await readRunsAt(connection, capture, agents, tenant, wanted, order);
    return { ...found, next: last === undefined ? null : placeOf(last) };
  });
}

function placeOf({ id, start, value }: Row): RunPlace {
  return {
    trace_id: String(id),
    started_at: Number(start),
    value: value === null || value === undefined ? null : Number(value),
  };
}

/** The condition for runs behind a place of the list. */
function behind({ sort, oldest_first = false }: RunFilter, place: RunPlace | null): string {
  if (place === null) return 'TRUE';
  const than = oldest_first ? '>' : '<';
  const start = `make_timestamp(${place.started_at})`;
  const isLater = `(started_at, trace_id) ${than} (${start}, '${new TraceId(place.trace_id).text}'::UUID)`;
  // Also by itself, so that scans skip what comes before.
  if (sort === undefined) return `started_at ${than}= ${start} AND ${isLater}`;
  if (place.value === null) return `${sort} IS NULL AND ${isLater}`;
  const value = `'${place.value}'::DOUBLE`;
  return `(${sort} ${than} ${value} OR ${sort} IS NULL OR (${sort} = ${value} AND ${isLater}))`;
}
