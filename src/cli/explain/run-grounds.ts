import { lastOutcome } from '../../runs/rules/run-outcome.js';
import { DERIVED } from '../../runs/rules/derived.js';
import { DIMENSIONS } from '../../signal/run-context.js';
import { AGENT_SOURCES, RUN_STATUSES } from '../../signal/span.js';
import { RUNNING, type HeaderRow } from '../../runs/rules/rows.js';
import { formatTime, type Micros } from '../../signal/time.js';
import type { ExplainedSpan, RunGround } from './explained.js';
import type { StoredRun } from './stored-runs.js';

const CONTEXT_FIELDS = ['session_id', 'user_id', 'tags', ...DIMENSIONS] as const;
type ContextField = (typeof CONTEXT_FIELDS)[number];

/**
 * The sources of a run's values, by name.
 *
 * @param header its header with the verdict of scores that came separately
 * @param spans of the run, in tree order
 */
export function groundsOfRun(
  run: StoredRun,
  header: HeaderRow,
  spans: readonly ExplainedSpan[],
): Readonly<Record<string, RunGround>> {
  const isScored = header !== run.header;
  const deciding = decidingSpan(run, spans);
  const isDeclared = (header.derived & DERIVED.agent) === 0;
  const grounds: Readonly<Record<string, RunGround | undefined>> = {
    agent_name: isDeclared ? DECLARED : agentGround(run.agent, spans),
    kind: isDeclared ? DECLARED : kindGround(spans),
    status: (header.derived & DERIVED.status) === 0 ? DECLARED : groundOf(deciding, 'status'),
    error_message: header.error_message === null ? undefined : groundOf(deciding, 'error_message'),
    success: header.success === null ? undefined : isScored ? SCORE : verdictGround('success', spans),
    outcome: header.outcome === null ? undefined : isScored ? SCORE : verdictGround('outcome', spans),
    total_tokens: header.total_tokens === null ? undefined : SUM,
    total_cost_usd: header.total_cost_usd === null ? undefined : SUM,
    started_at: timeGround('started_at', header.started_at, spans),
    ended_at: timeGround('ended_at', header.ended_at, spans),
    ...Object.fromEntries(
      CONTEXT_FIELDS.map((name) => [
        name,
        (header.derived & DERIVED[name]) === 0 ? DECLARED : groundOf(topmostWith(name, spans), name),
      ]),
    ),
  };
  return Object.fromEntries(
    Object.entries(grounds).filter((entry): entry is [string, RunGround] => entry[1] !== undefined),
  );
}

const DECLARED: RunGround = { span_id: null, source: 'a declared header' };
const SCORE: RunGround = { span_id: null, source: 'a score named success' };
const SUM: RunGround = { span_id: null, source: 'sum of its spans, calls counted once' };

/** The span that gives the run's outcome: the root, or one whose parent is in another process. */
function verdictGround(name: 'success' | 'outcome', spans: readonly ExplainedSpan[]): RunGround {
  const [span] = spans
    .filter(({ from }) => from[name] !== undefined)
    .toSorted((a, b) => Number(b.parent_span_id === null) - Number(a.parent_span_id === null));
  return groundOf(span, name) ?? DECLARED;
}

/** The span whose time is that of the run. */
function timeGround(
  name: 'started_at' | 'ended_at',
  time: Micros | null,
  spans: readonly ExplainedSpan[],
): RunGround | undefined {
  if (time === null) return undefined;
  const span = spans.find((each) => each[name] === formatTime(time));
  if (span === undefined) return DECLARED;
  return { span_id: span.span_id, source: name === 'started_at' ? 'earliest start' : 'latest end' };
}

/** The topmost span with a value. */
function topmostWith(name: ContextField, spans: readonly ExplainedSpan[]): ExplainedSpan | undefined {
  return spans.filter((span) => span[name] !== null).toSorted((a, b) => a.depth - b.depth)[0];
}

/** The span that names the run's agent: the one with the best source, the topmost of several. */
function agentGround(agent: string, spans: readonly ExplainedSpan[]): RunGround | undefined {
  const rank = ({ agent_hint: hint }: ExplainedSpan): number =>
    hint === null ? Infinity : AGENT_SOURCES.indexOf(hint.source);
  const [span] = spans
    .filter(({ agent_hint: hint }) => hint?.name === agent)
    .toSorted((a, b) => rank(a) - rank(b) || a.depth - b.depth);
  return span && { span_id: span.span_id, source: span.from.agent ?? span.agent_hint?.source ?? '' };
}

/** The first span that determines the run's kind. */
function kindGround(spans: readonly ExplainedSpan[]): RunGround {
  const span =
    spans.find(({ run_kind: kind }) => kind === 'agent') ?? spans.find(({ run_kind: kind }) => kind !== null);
  if (span === undefined) return { span_id: null, source: 'nothing indicates another kind' };
  const what = span.run_kind === 'agent' ? 'it has an agent, a model call or a tool call' : 'it has no agent';
  return { span_id: span.span_id, source: what };
}

/**
 * The span that determines the run's outcome: the root (of an ended run without one the topmost span), or if the root is only a wrapper,
 * the failed agent in it.
 */
function decidingSpan({ header, spans: stored }: StoredRun, spans: readonly ExplainedSpan[]) {
  const topmost = header.status === RUNNING ? undefined : spans[0];
  const root = spans.find(({ parent_span_id: parent }) => parent === null) ?? topmost;
  if (root === undefined || root.status === RUN_STATUSES[header.status]) return root;
  const deciding = lastOutcome(stored.map(({ facts }) => facts));
  const id = stored.find(({ facts }) => facts === deciding)?.row.span_id;
  return spans.find(({ span_id }) => span_id === id) ?? root;
}

function groundOf(span: ExplainedSpan | undefined, name: string): RunGround | undefined {
  const source = span?.from[name];
  return span === undefined || source === undefined ? undefined : { span_id: span.span_id, source };
}
