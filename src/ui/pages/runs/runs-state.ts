import { integer, oneOf, text, type Field, type StateOf } from '../../state/codec.js';
import { rangeField, stretchOf } from '../../state/range.js';

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

/** URL state of the list. */
export const STATE = {
  q: text(),
  range: rangeField('all'),
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
  /** Names of hidden columns; by default those that do not fit next to the input. */
  hide: text('models,errors,tokens,scores'),
};

export type RunsState = StateOf<typeof STATE>;

/** Filters set by chips, with label and value type. */
export const CHIPS = {
  agent: { label: 'Agent', kind: 'text' },
  session: { label: 'Session', kind: 'text' },
  user: { label: 'User', kind: 'text' },
  tag: { label: 'Tag', kind: 'text' },
  env: { label: 'Environment', kind: 'text' },
  release: { label: 'Release', kind: 'text' },
  version: { label: 'Agent version', kind: 'text' },
  repo: { label: 'Repository', kind: 'text' },
  model: { label: 'Model', kind: 'text' },
  span: { label: 'Span name', kind: 'text' },
  type: { label: 'Span type', kind: 'text' },
  node: { label: 'Map node', kind: 'text' },
  prompt: { label: 'Prompt', kind: 'text' },
  pv: { label: 'Prompt version', kind: 'number' },
  score: { label: 'Score', kind: 'text' },
  mind: { label: 'Min duration (ms)', kind: 'number' },
  maxd: { label: 'Max duration (ms)', kind: 'number' },
  minc: { label: 'Min cost ($)', kind: 'number' },
  maxc: { label: 'Max cost ($)', kind: 'number' },
} as const satisfies Partial<Record<keyof typeof STATE, { label: string; kind: 'text' | 'number' }>>;
export type Chip = keyof typeof CHIPS;

/** Fields that do not filter. */
const LOOKS: ReadonlySet<string> = new Set(['sort', 'page', 'after', 'hide']);
/** Filters for which the API gives no count. */
const UNCOUNTED = ['q', 'model', 'span', 'type', 'node', 'prompt'] as const;

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

export type Dimensions = Pick<RunsState, 'env' | 'release' | 'version' | 'repo'>;
export const NO_DIMENSIONS: Dimensions = { env: '', release: '', version: '', repo: '' };

/** The filters on dimensions as API parameters. */
export function dimensionQuery({ env, release, version, repo }: Dimensions) {
  return {
    ...(env === '' ? {} : { environment: env }),
    ...(release === '' ? {} : { release }),
    ...(version === '' ? {} : { agent_version: version }),
    ...(repo === '' ? {} : { repository: repo }),
  };
}

/** The filters as API parameters. @param now end of ranges that end now, in milliseconds */
export function filterQuery(state: RunsState, now: number) {
  const { start, end } = stretchOf(state.range, now) ?? { start: undefined, end: undefined };
  const sorted = state.sort.replace('-', '') as Sorted;
  return {
    kind: state.kind,
    sort: SORTS[sorted],
    order: state.sort.startsWith('-') ? ('desc' as const) : ('asc' as const),
    ...(state.q === '' ? {} : { query: state.q }),
    ...(state.status === '' ? {} : { status: state.status }),
    ...(state.success === '' ? {} : { success: state.success === 'true' }),
    ...(state.agent === '' ? {} : { agent_id: state.agent }),
    ...(state.session === '' ? {} : { session_id: state.session }),
    ...(state.user === '' ? {} : { user_id: state.user }),
    ...(state.tag === '' ? {} : { tag: state.tag }),
    ...dimensionQuery(state),
    ...(state.model === '' ? {} : { model: state.model }),
    ...(state.span === '' ? {} : { span_name: state.span }),
    ...(state.type === '' ? {} : { span_type: state.type }),
    ...(state.node === '' ? {} : { node: state.node }),
    ...(state.prompt === '' ? {} : { prompt_name: state.prompt }),
    ...(state.prompt === '' || state.pv < 0 ? {} : { prompt_version: state.pv }),
    ...(state.score === '' ? {} : { score: state.score.split(' & ') }),
    ...(state.mind === '' ? {} : { min_duration_ms: Number(state.mind) }),
    ...(state.maxd === '' ? {} : { max_duration_ms: Number(state.maxd) }),
    ...(state.minc === '' ? {} : { min_cost: Number(state.minc) }),
    ...(state.maxc === '' ? {} : { max_cost: Number(state.maxc) }),
    ...(start === undefined ? {} : { start_time: new Date(start).toISOString() }),
    ...(end === undefined ? {} : { end_time: new Date(end).toISOString() }),
  };
}
