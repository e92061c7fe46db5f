import type { components } from '../../api/generated/schema.js';
import { meets } from '../../list/filters.js';
import { stretchOf } from '../../state/range.js';
import type { RunsState } from './runs-state.js';

type Schemas = components['schemas'];
type Run = Schemas['Run'] & Pick<Schemas['ListedRun'], 'agent_id'>;

/**
 * Whether a run matches the filters of a list, except those on spans, attributes, prompts, metadata and scores.
 *
 * @param now in milliseconds
 */
export function matchesRun(state: RunsState, run: Run, now: number): boolean {
  const { start, end } = stretchOf(state.range, now) ?? {};
  const startedAt = Date.parse(run.started_at);
  return (
    (state.kind === 'all' || state.kind === run.kind) &&
    (state.status === '' || state.status === run.status) &&
    (state.success === '' || state.success === String(run.success)) &&
    (state.agent === '' || state.agent.toLowerCase() === run.agent_id) &&
    (state.session === '' || state.session === run.session_id) &&
    (state.user === '' || state.user === run.user_id) &&
    (state.tag === '' || run.tags.includes(state.tag)) &&
    meets(state.env, run.environment) &&
    meets(state.release, run.release) &&
    meets(state.version, run.agent_version) &&
    meets(state.repo, run.repository) &&
    isWithin(run.duration_ms, state.mind, state.maxd) &&
    isWithin(run.total_cost_usd, state.minc, state.maxc) &&
    (start === undefined || startedAt >= start) &&
    (end === undefined || startedAt <= end) &&
    holds(state.q, run)
  );
}

function isWithin(value: number | null, least: string, most: string): boolean {
  if (least === '' && most === '') return true;
  return value !== null && (least === '' || value >= Number(least)) && (most === '' || value <= Number(most));
}

function holds(q: string, { agent_name: agent, outcome, error_message: error }: Run): boolean {
  return q === '' || [agent, outcome, error].some((text) => text?.toLowerCase().includes(q.toLowerCase()));
}

/** The sort value of a run; runs without one come last. */
function figure(run: Run, sort: RunsState['sort']): number {
  const missing = sort.startsWith('-') ? -1 : Infinity;
  if (sort.endsWith('duration')) return run.duration_ms ?? missing;
  if (sort.endsWith('tokens')) return run.total_tokens ?? missing;
  if (sort.endsWith('cost')) return run.total_cost_usd ?? missing;
  return Date.parse(run.started_at);
}

/** Whether a run belongs on the first page, given its rows. @param pageSize rows of a full page */
export function isOnPage(sort: RunsState['sort'], run: Run, rows: readonly Run[], pageSize: number): boolean {
  const last = rows.at(-1);
  if (last === undefined || rows.length < pageSize) return true;
  const [its, lasts] = [figure(run, sort), figure(last, sort)];
  return sort.startsWith('-') ? its > lasts : its < lasts;
}
