import { itemAt } from '../../signal/checked.js';
import { RUN_KINDS, RUN_STATUSES } from '../../signal/span.js';
import type { RunContext } from '../../signal/run-context.js';
import type { Micros } from '../../signal/time.js';
import { hasFailed, isWrapper, hasOutcome, type Outcome } from '../rules/run-outcome.js';
import { runKind, type SpanFacts } from '../rules/span-facts.js';
import type { RunSpans } from './run-spans.js';

/** The stored fields of the topmost span. Its id and that of its parent are keys. */
export type Top = Pick<
  SpanFacts,
  | 'span_id'
  | 'parent_span_id'
  | 'parent_is_remote'
  | 'started_at'
  | 'status'
  | 'ended_at'
  | 'error_message'
  | 'run_kind'
> & { readonly isWrapper: boolean };

/** The stored state of a truncated run in addition to its header: everything that may still change, as JSON. */
export interface Summary {
  /** How many spans agent, context and duplicate calls follow. */
  readonly followed: number;
  readonly tokens: number | null;
  readonly cost: number | null;
  readonly first: Micros;
  readonly latestEnd: Micros;
  readonly lastTime: Micros;
  /** Whether any span says that the run is an agent's. */
  readonly isOfAgent: boolean;
  /** How many spans have not ended; undefined in summaries of older versions, which did not count them. */
  readonly open?: number;
  /** The models whose calls spans report, with the units of the id of one call; undefined in summaries of older versions. */
  readonly models?: readonly (readonly [model: string, call: readonly number[]])[];
  /** The context from the followed spans; without dimensions in summaries of older versions. */
  readonly context: Partial<RunContext>;
  /** The units of its id, whether it has a parent, and the values that the header takes. */
  readonly top: readonly [
    id: readonly number[],
    hasParent: boolean,
    startedAt: Micros,
    status: number,
    endedAt: Micros | null,
    kind: number | null,
    error: string | null,
    isWrapper: boolean,
    /** Undefined in summaries of older versions. */
    isRemote?: boolean,
    parentId?: readonly number[],
  ];
  /** The outcome of the failed agent below a wrapper. */
  readonly failure: readonly [status: number, error: string | null] | null;
}

export function topOf(span: SpanFacts): Top {
  const { span_id, parent_span_id, parent_is_remote, started_at, status, ended_at, error_message, run_kind } =
    span;
  return {
    span_id,
    parent_span_id,
    parent_is_remote,
    started_at,
    status,
    ended_at,
    error_message,
    run_kind,
    isWrapper: isWrapper(hasOutcome(span), run_kind),
  };
}

export function serializeTop(top: Top): Summary['top'] {
  const { span_id, parent_span_id, started_at, status, ended_at, run_kind, error_message } = top;
  return [
    unitsOf(span_id),
    parent_span_id !== null,
    started_at,
    RUN_STATUSES.indexOf(status),
    ended_at,
    run_kind === null ? null : RUN_KINDS.indexOf(run_kind),
    error_message,
    top.isWrapper,
    top.parent_is_remote === true,
    unitsOf(parent_span_id ?? ''),
  ];
}

/** As text units, because JSON cannot hold lone surrogates. */
export function unitsOf(key: string): number[] {
  return Array.from({ length: key.length }, (_, i) => key.charCodeAt(i));
}

export function readTop(printed: Summary['top']): Top {
  const [units, hasParent, started_at, status, ended_at, kind, error_message, wraps, isRemote, parentId] =
    printed;
  return {
    span_id: keyOfUnits(units),
    parent_span_id: hasParent ? keyOfUnits(parentId ?? []) : null,
    parent_is_remote: isRemote === true ? true : null,
    started_at,
    status: itemAt(RUN_STATUSES, status),
    ended_at,
    error_message,
    run_kind: runKind(kind),
    isWrapper: wraps,
  };
}

export function keyOfUnits(units: readonly number[]): string {
  return String.fromCharCode(...units);
}

export function failureOf(spans: RunSpans): Outcome | undefined {
  const last = spans.lastOutcome();
  if (last === undefined || !hasFailed(last.status)) return undefined;
  return { status: last.status, error_message: last.error_message };
}

export function serializeFailure(failure: Outcome | undefined): Summary['failure'] {
  return failure === undefined ? null : [RUN_STATUSES.indexOf(failure.status), failure.error_message];
}

export function readFailure(printed: Summary['failure']): Outcome | undefined {
  if (printed === null) return undefined;
  const [status, error_message] = printed;
  return { status: itemAt(RUN_STATUSES, status), error_message };
}
