import { conditionQuery, keyedQuery, parseKeyed, type FilterField } from '../../list/filters.js';
import { integer, oneOf, text, type Field, type StateOf } from '../../state/codec.js';
import { PAGE_RANGES, rangeField, stretchOf } from '../../state/range.js';

/** Sortable columns with their API names. */
export const SORTS = {
  started_at: 'started_at',
  duration: 'duration_ms',
  tokens: 'total_tokens',
  cost: 'total_cost_usd',
} as const;
type Sorted = keyof typeof SORTS;
const SORTED = Object.keys(SORTS) as Sorted[];

/** A minimum or maximum; empty for any. */
function bound(): Field<string> {
  return {
    initial: '',
    parse: (value) => (value !== '' && Number(value) >= 0 && value.length < 20 ? value : undefined),
    print: (value) => (value === '' ? undefined : value),
  };
}

/** Conditions on keys, see {@link parseKeyed}. */
function keyed(): Field<string> {
  const field = text();
  return {
    ...field,
    parse: (value) => (parseKeyed(value) === undefined ? undefined : field.parse(value)),
  };
}

/** URL state of the list. */
export const STATE = {
  q: text(),
  range: rangeField(PAGE_RANGES['/runs']),
  status: oneOf(['', 'completed', 'failed', 'timed_out', 'running'], ''),
  success: oneOf(['', 'true', 'false'], ''),
  kind: oneOf(['agent', 'other', 'all'], 'agent'),
  agent: text(),
  session: text(),
  user: text(),
  tag: text(),
  env: text(),
  release: text(),
  version: text(),
  repo: text(),
  meta: keyed(),
  attr: keyed(),
  model: text(),
  span: text(),
  type: oneOf(['', 'agent', 'llm', 'tool', 'http', 'db', 'custom'], ''),
  node: text(),
  prompt: text(),
  pv: integer(-1, 0),
  score: text(),
  mind: bound(),
  maxd: bound(),
  minc: bound(),
  maxc: bound(),
  sort: oneOf([...SORTED, ...SORTED.map((name) => `-${name}` as const)], '-started_at'),
  page: integer(1, 1),
  /** Cursor of an uncounted list. */
  after: text(),
  /** Columns, see `parts/columns.ts`. */
  cols: text(),
};

export type RunsState = StateOf<typeof STATE>;

/** Filters that can be added. */
export const FILTERS = {
  agent: { label: 'Agent', kind: 'text', suggest: 'agent', isPicked: true },
  user: { label: 'User', kind: 'text', suggest: 'user_id' },
  session: { label: 'Session', kind: 'text', suggest: 'session_id' },
  tag: { label: 'Tag', kind: 'text', suggest: 'tag' },
  meta: { label: 'Metadata', kind: 'keyed', suggest: 'metadata', hasOperators: true },
  attr: { label: 'Span attribute', kind: 'keyed', suggest: 'attribute', hasOperators: true },
  env: { label: 'Environment', kind: 'text', suggest: 'environment', hasOperators: true },
  release: { label: 'Release', kind: 'text', suggest: 'release', hasOperators: true },
  version: { label: 'Agent version', kind: 'text', suggest: 'agent_version', hasOperators: true },
  repo: { label: 'Repository', kind: 'text', suggest: 'repository', hasOperators: true },
  model: { label: 'Model', kind: 'text', suggest: 'model' },
  span: { label: 'Span name', kind: 'text', suggest: 'tool' },
  type: { label: 'Span type', kind: 'choice', choices: ['agent', 'llm', 'tool', 'http', 'db', 'custom'] },
  node: { label: 'Map node', kind: 'text' },
  prompt: { label: 'Prompt', kind: 'text', suggest: 'prompt' },
  pv: { label: 'Prompt version', kind: 'number' },
  score: { label: 'Score', kind: 'text', hint: 'rating<0.5, tone=polite, !rating' },
  mind: { label: 'Min duration (ms)', kind: 'number' },
  maxd: { label: 'Max duration (ms)', kind: 'number' },
  minc: { label: 'Min cost ($)', kind: 'number' },
  maxc: { label: 'Max cost ($)', kind: 'number' },
} as const satisfies Partial<Record<keyof typeof STATE, FilterField>>;

/** Fields that do not filter. */
const LOOKS: ReadonlySet<string> = new Set(['sort', 'page', 'after', 'cols']);
/** Filters for which the API gives no count. */
const UNCOUNTED = ['q', 'attr', 'model', 'span', 'type', 'node', 'prompt'] as const;

/** Filters of which the API has no series over time, except with a search. */
const NOT_IN_SERIES = ['model', 'span', 'type', 'node', 'pv'] as const;

/** Whether any filter is set. */
export function isFiltered(state: RunsState): boolean {
  return Object.entries(STATE).some(
    ([name, { initial }]) => !LOOKS.has(name) && state[name as keyof RunsState] !== initial,
  );
}

/** Whether the list has no count. */
export function isUncounted(state: RunsState): boolean {
  return UNCOUNTED.some((name) => state[name] !== '');
}

/** Whether the list is searched for a limited time, and its histogram, too. */
export function isSearch({ q, attr }: RunsState): boolean {
  return q !== '' || attr !== '';
}

/**
 * Whether the first page lists all runs that a search can find.
 *
 * @param found the result of the search over time; undefined while it loads
 */
export function isAllListed(
  { after }: RunsState,
  listed: number,
  found: { readonly runs: number; readonly searched_back_to: string | null } | undefined,
): boolean {
  return after === '' && found?.searched_back_to === null && listed >= found.runs;
}

/** Names of the filters that the histogram does not follow. */
export function notInSeries(state: RunsState): readonly string[] {
  if (isSearch(state)) return [];
  return NOT_IN_SERIES.filter((name) => state[name] !== STATE[name].initial).map((name) =>
    FILTERS[name].label.toLowerCase(),
  );
}

/** The filters on dimensions and metadata as API parameters. */
function conditionsQuery({ env, release, version, repo, meta }: RunsState): object {
  return {
    ...conditionQuery('environment', env),
    ...conditionQuery('release', release),
    ...conditionQuery('agent_version', version),
    ...conditionQuery('repository', repo),
    ...keyedQuery('metadata', meta),
  };
}

/** The filters that lists and series share, which are all but {@link notInSeries}, as API parameters. */
export function seriesFilter(state: RunsState) {
  return {
    ...(state.status === '' ? {} : { status: state.status }),
    ...(state.success === '' ? {} : { success: state.success === 'true' }),
    ...(state.agent === '' ? {} : { agent_id: state.agent }),
    ...(state.session === '' ? {} : { session_id: state.session }),
    ...(state.user === '' ? {} : { user_id: state.user }),
    ...(state.tag === '' ? {} : { tag: state.tag }),
    ...conditionsQuery(state),
    ...(state.prompt === '' ? {} : { prompt_name: state.prompt }),
    ...(state.score === '' ? {} : { score: state.score.split(' & ') }),
    ...(state.mind === '' ? {} : { min_duration_ms: Number(state.mind) }),
    ...(state.maxd === '' ? {} : { max_duration_ms: Number(state.maxd) }),
    ...(state.minc === '' ? {} : { min_cost: Number(state.minc) }),
    ...(state.maxc === '' ? {} : { max_cost: Number(state.maxc) }),
  };
}

/** All filters but the range as API parameters. */
export function searchFilter(state: RunsState) {
  return {
    kind: state.kind,
    ...seriesFilter(state),
    ...keyedQuery('attribute', state.attr),
    ...(state.model === '' ? {} : { model: state.model }),
    ...(state.span === '' ? {} : { span_name: state.span }),
    ...(state.type === '' ? {} : { span_type: state.type }),
    ...(state.node === '' ? {} : { node: state.node }),
    ...(state.prompt === '' || state.pv < 0 ? {} : { prompt_version: state.pv }),
  };
}

/** The list as API parameters. @param now end of ranges that end now, in milliseconds */
export function filterQuery(state: RunsState, now: number) {
  const { start, end } = stretchOf(state.range, now) ?? { start: undefined, end: undefined };
  const sorted = state.sort.replace('-', '') as Sorted;
  return {
    sort: SORTS[sorted],
    order: state.sort.startsWith('-') ? ('desc' as const) : ('asc' as const),
    ...searchFilter(state),
    ...(state.q === '' ? {} : { query: state.q }),
    ...(start === undefined ? {} : { start_time: new Date(start).toISOString() }),
    ...(end === undefined ? {} : { end_time: new Date(end).toISOString() }),
  };
}
