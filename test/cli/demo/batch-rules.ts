import { isUuid } from '../../../src/signal/ids.js';
import { parseMoney } from '../../../src/signal/money.js';
import { RUN_STATUSES, SPAN_TYPES } from '../../../src/signal/span.js';
import { parseTime } from '../../../src/signal/time.js';
import type { BatchBody, RunBody, SpanBody, TraceBody } from '../../../src/cli/demo/body.js';

/**
 * The ingestion rules, implemented again without code of the daemon.
 *
 * @returns one line per broken rule
 */
export function brokenRules(batch: BatchBody): string[] {
  const problems: string[] = [];
  const spans = batch.traces.reduce((sum, run) => sum + run.spans.length, 0);
  if (spans > 100) problems.push(`${spans} spans in one request`);
  for (const run of batch.traces) {
    problems.push(...brokenByRun(run).map((problem) => `${run.trace.trace_id}: ${problem}`));
  }
  return problems;
}

function brokenByRun(run: RunBody): string[] {
  const problems = brokenByBoth(run.trace);
  if (!isName(run.trace.agent)) problems.push('agent');
  const ids = new Set<string>();
  for (const span of run.spans) {
    if (span.trace_id !== run.trace.trace_id) problems.push('trace_id of a span is not the header’s');
    if (ids.has(span.span_id)) problems.push(`span ${span.span_id} twice`);
    ids.add(span.span_id);
    problems.push(...brokenBySpan(span).map((problem) => `${span.name}: ${problem}`));
  }
  return problems;
}

function brokenBySpan(span: SpanBody): string[] {
  const problems = brokenByBoth(span);
  if (!isUuid(span.span_id)) problems.push('span_id');
  if (span.parent_span_id !== undefined && !isUuid(span.parent_span_id)) problems.push('parent_span_id');
  if (span.parent_span_id === span.span_id) problems.push('is its own parent');
  if (!isName(span.name)) problems.push('name');
  if (!SPAN_TYPES.includes(span.type)) problems.push('type');
  for (const tokens of [span.input_tokens, span.output_tokens, span.total_tokens]) {
    if (tokens !== undefined && !(Number.isSafeInteger(tokens) && tokens >= 0)) problems.push('tokens');
  }
  if (span.cost_usd !== undefined && !isAmount(span.cost_usd)) problems.push('cost_usd');
  return problems;
}

function brokenByBoth(part: TraceBody | SpanBody): string[] {
  const problems: string[] = [];
  const start = parseTime(part.started_at);
  const end = part.ended_at === undefined ? undefined : parseTime(part.ended_at);
  if (!isUuid(part.trace_id)) problems.push('trace_id');
  if (!RUN_STATUSES.includes(part.status)) problems.push('status');
  if (start === undefined) problems.push('started_at');
  if (part.ended_at !== undefined && (end === undefined || end < (start ?? 0))) problems.push('ended_at');
  if (part.duration_ms !== undefined && !(Number.isFinite(part.duration_ms) && part.duration_ms >= 0)) {
    problems.push('duration_ms');
  }
  return problems;
}

function isName(name: string): boolean {
  return name.trim().length > 0 && name.trim().length <= 1024;
}

function isAmount(text: string): boolean {
  return /^\d{1,9}\.\d{6}$/.test(text) && (parseMoney(text) ?? -1) >= 0;
}
