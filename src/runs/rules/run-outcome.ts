import {
  AGENT_SOURCES,
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

/** What the outcome of a run depends on in each of its spans. */
export interface OutcomeSpan extends Outcome {
  readonly span_id: string;
  readonly parent_span_id: string | null;
  /** A type, or its position in `SPAN_TYPES`. */
  readonly type: SpanType | number;
  readonly started_at: Micros;
  readonly agent_hint: AgentHint | null;
}

/** What of a span says whether it speaks for its run. */
export interface OutcomeCandidate {
  readonly isRoot: boolean;
  readonly type: SpanType | number;
  readonly status: RunStatus;
  readonly source: AgentHint['source'] | undefined;
}

/** The codes of the sources of names by which a span is an agent's or a workflow's own. */
export const SPEAKING_SOURCES = (['root', 'agent span'] as const).map((source) =>
  AGENT_SOURCES.indexOf(source),
);

/**
 * Whether a span says how its agent or workflow went: it has a name of its own, or is an agent's that failed below something else.
 * A span that once speaks for its run always does.
 */
export function hasOutcome({ isRoot, type, status, source }: OutcomeCandidate): boolean {
  if (source === 'root' || source === 'agent span') return true;
  return !isRoot && (type === 'agent' || type === TYPE_CODES.agent) && hasFailed(status);
}

export function speaksForRun({
  parent_span_id,
  type,
  status,
  agent_hint,
}: Omit<OutcomeSpan, 'error_message' | 'span_id' | 'started_at'>): boolean {
  return hasOutcome({ isRoot: parent_span_id === null, type, status, source: agent_hint?.source });
}

/**
 * Whether a root only stands around agents, so that its success says nothing of theirs: a server's or a script's span, a step, or what
 * its client does not tell of as an agent (`Agent workflow`). An agent without a name of its own is none: it has perhaps recovered.
 *
 * @param speaks whether the root {@link speaks}
 */
export function isWrapper(hasOutcome: boolean, kind: RunKind | null): boolean {
  return !hasOutcome && kind !== 'agent';
}

export function hasFailed(status: RunStatus): boolean {
  return status === 'failed' || status === 'timed_out';
}

/**
 * How a run went: as its root did, unless that is a wrapper that went well while the agent or workflow in it failed.
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
 * Of the topmost spans that speak for their run ({@link speaks}), those that have no such span above, the one that began last: one
 * that failed below another was perhaps recovered from, and so was one that another followed.
 */
export function lastOutcome<Span extends OutcomeSpan>(spans: readonly Span[]): Span | undefined {
  const speaking = spans.filter(speaksForRun);
  if (!speaking.some(({ status }) => hasFailed(status))) return undefined;
  const known = new Map(spans.map((span) => [span.span_id, span]));
  /** Whether a span, or one above it, speaks. */
  const found = new Map<string | null, boolean>();
  const isBelow = ({ parent_span_id }: Span): boolean => {
    const path: string[] = [];
    let id = parent_span_id;
    let answer = false;
    for (let span = id === null ? undefined : known.get(id); span !== undefined;) {
      const before = found.get(id);
      if (before !== undefined || speaksForRun(span)) {
        answer = before ?? true;
        break;
      }
      // Nobody speaks in a ring of parents that comes back here.
      found.set(span.span_id, false);
      path.push(span.span_id);
      id = span.parent_span_id;
      span = id === null ? undefined : known.get(id);
    }
    for (const passed of path) found.set(passed, answer);
    return answer;
  };
  return speaking
    .filter((span) => !isBelow(span))
    .reduce<Span | undefined>(
      (last, span) => (last === undefined || isLater(span, last) ? span : last),
      undefined,
    );
}

function isLater(a: OutcomeSpan, b: OutcomeSpan): boolean {
  return a.started_at === b.started_at ? a.span_id > b.span_id : a.started_at > b.started_at;
}
