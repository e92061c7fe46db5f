import { Type } from 'typebox';
import { searchLogs } from '../../../api/resources/logs.js';
import { readSpan } from '../../../api/resources/trace-spans.js';
import { durationText, oneLine, words, type Answer } from '../answer.js';
import type { ApiCalls } from '../api-calls.js';
import {
  countLine,
  isFailed,
  noteCut,
  readTree,
  runLines,
  spanLine,
  type PlacedSpan,
  type SpanTree,
} from '../span-tree.js';
import { defineTool, traceId } from '../tool.js';
import { logLine } from './telemetry.js';

/** Failed spans shown with their data. */
const MOST_CAUSES = 3;
const MOST_BEFORE = 5;
const MOST_LOGS = 10;
const PAYLOAD_BYTES = 1024;

/** Explains a failed run: the first causes, what happened before, and errors in the logs. */
export const whyFailed = defineTool({
  name: 'why_failed',
  title: 'Why a run failed',
  description:
    'The spans that failed by themselves, with their error, input and output, the spans before them, and error logs of the run. Also for runs that completed without success or got stuck.',
  args: Type.Object({ trace_id: traceId }, { additionalProperties: false }),
  ids: 'search_runs with status "failed" lists failed runs with their ids',
  async run({ trace_id }, { api, answer }) {
    const tree = await readTree(api, trace_id);
    const { run, spans } = tree;
    for (const line of runLines(run)) answer.line(line);
    answer.line(countLine(tree));
    const failures = spans
      .filter(({ span, children }) => isFailed(span) && !children.some(hasFailedBelow))
      .sort((a, b) => (a.span.started_at < b.span.started_at ? -1 : 1));
    const causes = groupedCauses(failures);
    const open = spans.filter(({ span, children }) => span.status === 'running' && children.length === 0);
    // The last failure is most likely the one that ended the run.
    const shown = causes.slice(-MOST_CAUSES).toReversed();
    for (const { last, count } of shown) await showCause(last, count, tree, { api, answer });
    if (causes.length === 0) {
      const texts = ['no span failed; not ended:', 'spans that have not ended'] as const;
      answer.section(texts, open.slice(-MOST_CAUSES), ({ span }) => spanLine(span));
      if (open.length === 0) showEnd(tree, answer);
    }
    await showLogs(run.trace_id, api, answer);
    if (causes.length > shown.length)
      answer.note(
        `${causes.length - shown.length} kinds of earlier failures are not shown: get_run lists all spans.`,
      );
    if (run.status === 'completed' && causes.length > 0)
      answer.note('The run completed: its agent may have handled these failures.');
    noteCut(tree, answer);
    const [first] = shown;
    if (first)
      answer.next(
        'get_span',
        { trace_id: run.trace_id, span_id: first.last.span.span_id },
        'shows all of it.',
      );
    answer.next(
      'search_runs',
      { agent: run.agent_id, status: 'failed' },
      'lists other failed runs of the agent.',
    );
  },
});

interface Cause {
  readonly last: PlacedSpan;
  /** Failures of the same span name with the same error, such as retries. */
  readonly count: number;
}

/** In the order of their last failure. */
function groupedCauses(failures: readonly PlacedSpan[]): readonly Cause[] {
  const byKind = new Map<string, Cause>();
  for (const last of failures) {
    const { type, name, error_message } = last.span;
    const kind = JSON.stringify([type, name, error_message]);
    const count = (byKind.get(kind)?.count ?? 0) + 1;
    byKind.delete(kind);
    byKind.set(kind, { last, count });
  }
  return [...byKind.values()];
}

function hasFailedBelow({ span, children }: PlacedSpan): boolean {
  const waiting = [{ span, children }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (isFailed(next.span)) return true;
    waiting.push(...next.children);
  }
  return false;
}

async function showCause(
  { span, parent }: PlacedSpan,
  count: number,
  tree: SpanTree,
  { api, answer }: { readonly api: ApiCalls; readonly answer: Answer },
): Promise<void> {
  const path: string[] = [];
  for (let above = parent; above !== undefined && path.length < 8; above = above.parent)
    path.unshift(oneLine(above.span.name, 40));
  const times = count === 1 ? '' : ` ${count} times with this error, last`;
  if (!answer.line(`\nfailed${times}: ${spanLine(span).slice(2)}`)) return;
  if (path.length > 0) answer.line(`  below ${path.join(' › ')}`);
  const { trace_id, span_id } = span;
  const query = { max_bytes: PAYLOAD_BYTES };
  const data = await api.call(readSpan, { params: { trace_id, span_id }, query });
  // Half of the room is left for the next cause and the logs.
  const room = () => Math.min(3000, answer.room / 2);
  if (data.error_message !== null) answer.block('  error', data.error_message, room());
  const stack = stackOf(data.events);
  if (stack !== undefined && stack !== data.error_message) answer.block('  stack', stack, room());
  if (data.input_data !== null) answer.block('  input', JSON.stringify(data.input_data), room() / 2);
  if (data.output_data !== null) answer.block('  output', JSON.stringify(data.output_data), room() / 2);
  const before = tree.spans
    .map((placed) => placed.span)
    .filter(
      (other) => other.span_id !== span_id && other.ended_at !== null && other.ended_at <= span.started_at,
    )
    .sort((a, b) => (String(a.ended_at) < String(b.ended_at) ? -1 : 1))
    .slice(-MOST_BEFORE);
  const texts = ['  just before it:', 'spans just before the failure'] as const;
  answer.section(texts, before, (other) => `  ${spanLine(other)}`);
}

/** The stack of a recorded exception. */
function stackOf(events: SpanEvents): string | undefined {
  for (const { attributes } of events ?? []) {
    const stack = attributes.find(({ key }) => key === 'exception.stacktrace')?.value['stringValue'];
    if (typeof stack === 'string') return stack;
  }
  return undefined;
}

type SpanEvents =
  | readonly {
      readonly attributes: readonly {
        readonly key: string;
        readonly value: Readonly<Record<string, unknown>>;
      }[];
    }[]
  | null;

/** For a run without failed spans: its last spans, which show how it ended. */
function showEnd({ run, spans }: SpanTree, answer: Answer): void {
  const title =
    run.success === false
      ? 'no span failed, but the run is marked as not successful; its last spans:'
      : words('no span failed; its last spans', durationText(run.duration_ms));
  const last = spans.map(({ span }) => span).toSorted((a, b) => (a.started_at < b.started_at ? -1 : 1));
  answer.section([title, 'last spans'], last.slice(-MOST_BEFORE), (span) => spanLine(span));
}

async function showLogs(trace_id: string, api: ApiCalls, answer: Answer): Promise<void> {
  const levels = ['fatal', 'error', 'warn'] as const;
  const found = await Promise.all(
    levels.map((severity) => api.call(searchLogs, { query: { trace_id, severity, limit: MOST_LOGS } })),
  );
  const items = found.flatMap((page) => page.items).slice(0, MOST_LOGS);
  answer.section(['\nlogs of the run:', 'log records'], items, logLine);
}
