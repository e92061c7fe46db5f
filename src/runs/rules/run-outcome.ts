import {
  RUN_STATUSES,
  type AgentHint,
  type RunKind,
  type RunStatus,
  type SpanType,
} from '../../signal/span.js';
import type { Micros } from '../../signal/time.js';
import { TYPE_CODES } from '../../signal/trace-map.js';

/** How a span, or a run, went. */
export interface Outcome {
  readonly status: RunStatus;
  readonly error_message: string | null;
}

/** The fields of a span that its run's outcome depends on. */
export interface OutcomeSpan extends Outcome {
  readonly span_id: string;
  readonly parent_span_id: string | null;
  /** A type, or its position in `SPAN_TYPES`. */
  readonly type: SpanType | number;
  readonly started_at: Micros;
  readonly agent_hint: AgentHint | null;
  readonly run_kind: RunKind | null;
}

/** The name sources that mark a span as an agent's or a workflow's own. */
export const OUTCOME_SOURCES: readonly AgentHint['source'][] = ['root', 'agent span'];

/**
 * Whether a span determines the outcome of its agent or workflow: it has its own name, or it is a failed agent span below another span.
 * A root whose kind says nothing only wraps agents and names the run for them. Once true for a span, this stays true.
 */
export function hasOutcome({
  parent_span_id,
  type,
  status,
  agent_hint,
  run_kind,
}: Omit<OutcomeSpan, 'error_message' | 'span_id' | 'started_at'>): boolean {
  if (parent_span_id === null && run_kind === null) return false;
  if (agent_hint !== null && OUTCOME_SOURCES.includes(agent_hint.source)) return true;
  return parent_span_id !== null && (type === 'agent' || type === TYPE_CODES.agent) && hasFailed(status);
}

/**
 * Whether a root only wraps agents, so that its success does not imply theirs: a server's or a script's span, a step, or a span not
 * reported as an agent (`Agent workflow`). An agent without its own name is not a wrapper: it may have recovered.
 *
 * @param decides whether the root {@link hasOutcome}
 */
export function isWrapper(decides: boolean, kind: RunKind | null): boolean {
  return !decides && kind !== 'agent';
}

export function hasFailed(status: RunStatus): boolean {
  return status === 'failed' || status === 'timed_out';
}

/** The positions in `RUN_STATUSES` of failed statuses. */
export const FAILED: readonly number[] = RUN_STATUSES.flatMap((status, code) =>
  hasFailed(status) ? [code] : [],
);

/**
 * The outcome of a run: that of its root, unless the root is a successful wrapper around a failed agent or workflow.
 *
 * @param root has ended
 * @param wraps whether it {@link isWrapper}
 * @param last finds {@link lastOutcome}
 */
export function outcomeOf(root: Outcome, wraps: boolean, last: () => Outcome | undefined): Outcome {
  if (root.status === 'completed' && wraps) {
    const agent = last();
    if (agent !== undefined && hasFailed(agent.status)) return agent;
  }
  return root;
}

/**
 * Among the topmost spans with an outcome ({@link hasOutcome}), the one that began last. The run may have recovered from failures below
 * another such span or before a later one.
 */
export function lastOutcome<Span extends OutcomeSpan>(spans: readonly Span[]): Span | undefined {
  const candidates = spans.filter(hasOutcome);
  if (!candidates.some(({ status }) => hasFailed(status))) return undefined;
  const known = new Map(spans.map((span) => [span.span_id, span]));
  /** Whether a span or one of its ancestors has an outcome. */
  const found = new Map<string | null, boolean>();
  const isBelow = ({ parent_span_id }: Span): boolean => {
    const path: string[] = [];
    let id = parent_span_id;
    let answer = false;
    for (let span = id === null ? undefined : known.get(id); span !== undefined;) {
      const before = found.get(id);
      if (before !== undefined || hasOutcome(span)) {
        answer = before ?? true;
        break;
      }
      // A cycle of parents that returns here has no outcome span.
      found.set(span.span_id, false);
      path.push(span.span_id);
      id = span.parent_span_id;
      span = id === null ? undefined : known.get(id);
    }
    for (const passed of path) found.set(passed, answer);
    return answer;
  };
  return candidates
    .filter((span) => !isBelow(span))
    .reduce<Span | undefined>(
      (last, span) => (last === undefined || isLater(span, last) ? span : last),
      undefined,
    );
}

function isLater(a: OutcomeSpan, b: OutcomeSpan): boolean {
  return a.started_at === b.started_at ? a.span_id > b.span_id : a.started_at > b.started_at;
}
