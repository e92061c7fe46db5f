import type { Static } from 'typebox';
import { readSummary } from '../../api/resources/trace-spans.js';
import type { spanSummarySchema } from '../../api/resources/span-schemas.js';
import type { OperationAnswer } from '../../http/operation-call.js';
import { counted } from '../../api/support/counted.js';
import { scoreText } from '../../api/support/scores.js';
import { EVALUATION_EVENT } from '../../signal/score.js';
import { costText, durationText, oneLine, words, type Answer } from './answer.js';
import type { ApiCalls } from './api-calls.js';
import { uuidOf } from './tool.js';

/** About ten thousand spans. Longer runs are read from their start only. */
const MAX_OUTLINE_BYTES = 4 * 1024 * 1024;
const MAX_INDENT = 12;
/** Newest scores shown with a run. */
const MOST_SCORES = 5;

export type SpanRow = Static<typeof spanSummarySchema>;
export type RunOutline = OperationAnswer<typeof readSummary>;

/** A span at its place in the run. */
export interface PlacedSpan {
  readonly span: SpanRow;
  readonly depth: number;
  readonly parent: PlacedSpan | undefined;
  readonly children: PlacedSpan[];
}

/** The spans of a run in the order of the tree, each before its children. */
export interface SpanTree {
  readonly run: RunOutline;
  readonly spans: readonly PlacedSpan[];
  /** Whether later spans were left out, because the run is very long. */
  readonly isCut: boolean;
}

/** Reads a run without payloads. @throws HttpProblem 404 */
export async function readTree(api: ApiCalls, id: string): Promise<SpanTree> {
  const call = { params: { trace_id: uuidOf(id) } };
  const limits = { firstField: 'span_id', maxBytes: MAX_OUTLINE_BYTES };
  const { answer: run, isCut } = await api.callForStart(readSummary, call, limits);
  return { run, spans: ordered(run.spans), isCut };
}

function ordered(spans: readonly SpanRow[]): readonly PlacedSpan[] {
  const ids = new Set(spans.map(({ span_id }) => span_id));
  const childrenOf = new Map<string | null, SpanRow[]>();
  for (const span of spans) {
    const { parent_span_id: id } = span;
    // A missing parent makes a root.
    const parent = id !== null && ids.has(id) && id !== span.span_id ? id : null;
    const known = childrenOf.get(parent);
    if (known === undefined) childrenOf.set(parent, [span]);
    else known.push(span);
  }
  const placed: PlacedSpan[] = [];
  // Not recursive: a chain may be very deep. Spans of a cycle have no root and are added at the end.
  const waiting: { span: SpanRow; parent: PlacedSpan | undefined }[] = [];
  const seen = new Set<string>();
  const walk = (): void => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { span, parent } = next;
      if (seen.has(span.span_id)) continue;
      seen.add(span.span_id);
      const place: PlacedSpan = {
        span,
        depth: parent === undefined ? 0 : parent.depth + 1,
        parent,
        children: [],
      };
      parent?.children.push(place);
      placed.push(place);
      for (const child of (childrenOf.get(span.span_id) ?? []).toReversed())
        waiting.push({ span: child, parent: place });
    }
  };
  for (const span of (childrenOf.get(null) ?? []).toReversed()) waiting.push({ span, parent: undefined });
  walk();
  for (const span of spans)
    if (!seen.has(span.span_id)) {
      waiting.push({ span, parent: undefined });
      walk();
    }
  return placed;
}

export function isFailed({ status }: Pick<SpanRow, 'status'>): boolean {
  return status === 'failed' || status === 'timed_out';
}

/** One line about a span, with its id at the end. */
export function spanLine(span: SpanRow, depth = 0): string {
  const { input_tokens: input, output_tokens: output, total_tokens: total } = span;
  const tokens =
    input !== null || output !== null
      ? `${input ?? '?'} in ${output ?? '?'} out`
      : total !== null && `${total} tokens`;
  const line = words(
    `${span.type} ${oneLine(span.name, 80)}`,
    span.status !== 'completed' && span.status.toUpperCase(),
    span.model !== null && oneLine(span.model, 60),
    durationText(span.duration_ms),
    tokens,
    costText(span.cost_usd),
    span.counted === false && 'counted on another span',
    span.error_message !== null && `error: ${oneLine(span.error_message, 120)}`,
    span.span_id,
  );
  return `${'  '.repeat(Math.min(depth, MAX_INDENT))}- ${line}`;
}

/** The lines about a run, without its spans. */
export function runLines(run: RunOutline): readonly string[] {
  return [
    words(
      `run ${run.trace_id}`,
      `agent ${oneLine(run.agent_name, 100)}`,
      run.status.toUpperCase(),
      `started ${run.started_at}`,
      durationText(run.duration_ms),
      run.total_tokens !== null && `${run.total_tokens} tokens`,
      costText(run.total_cost_usd),
    ),
    words(
      run.success !== null && `success ${run.success}`,
      run.outcome !== null && `outcome: ${oneLine(run.outcome)}`,
      run.environment !== null && `environment ${oneLine(run.environment, 80)}`,
      run.release !== null && `release ${oneLine(run.release, 80)}`,
      run.agent_version !== null && `agent version ${oneLine(run.agent_version, 80)}`,
      run.session_id !== null && `session ${oneLine(run.session_id, 80)}`,
      run.user_id !== null && `user ${oneLine(run.user_id, 80)}`,
      run.tags.length > 0 && `tags ${oneLine(run.tags.join(', '))}`,
    ),
    run.error_message === null ? '' : `error: ${oneLine(run.error_message, 500)}`,
    ...run.scores
      .slice(-MOST_SCORES)
      .map(
        ({ name, value, label, comment, span_id }) =>
          `score ${words(
            oneLine(scoreText({ name, value, label }), 100),
            span_id !== null && `span ${span_id}`,
            comment !== null && oneLine(comment, 120),
          )}`,
      ),
    run.scores.length > MOST_SCORES
      ? `${counted(run.scores.length - MOST_SCORES, 'earlier score')} left out: search_logs with event_name "${EVALUATION_EVENT}" and trace_id lists scores in log records`
      : '',
  ].filter((line) => line !== '');
}

/** Counts of a run's spans in one line. */
export function countLine({ spans, isCut }: SpanTree): string {
  const types = new Map<string, number>();
  for (const { span } of spans) types.set(span.type, (types.get(span.type) ?? 0) + 1);
  const failed = spans.filter(({ span }) => isFailed(span)).length;
  return words(
    `${isCut ? 'first ' : ''}${counted(spans.length, 'span')}: ${[...types].map(([type, count]) => `${count} ${type}`).join(', ')}`,
    failed > 0 && `${failed} failed`,
  );
}

/** Says that a run was not read to its end. */
export function noteCut({ run, spans, isCut }: SpanTree, answer: Answer): void {
  if (isCut)
    answer.note(
      `The run is very long: only its first ${spans.length} spans were read. get_run with "query" searches in all of them (${run.trace_id}).`,
    );
}
