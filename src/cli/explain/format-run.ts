import { USAGE_PARTS } from '../../signal/call-details.js';
import type { AgentSource } from '../../signal/span.js';
import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { counted } from '../../api/support/counted.js';
import { printable } from '../table.js';
import type { ExplainedRun, ExplainedScore, ExplainedSpan, RunGround } from './explained.js';
import { SUM_OF_TOKENS } from '../../otlp/map/grounds.js';
import { inLine, inShort } from './payload-line.js';

/** A labelled value and its source. */
interface Line {
  readonly label: string;
  readonly value: string;
  readonly from: string;
}

/** Widths of the label and value columns. */
const LABEL = 8;
const VALUE = 72;

/** Shortens a text to one line of at most `most` characters. */
function cut(text: string, most = VALUE): string {
  const line = printable(text.replace(/\s+/g, ' ').trim());
  return line.length <= most ? line : `${line.slice(0, most - 1).trimEnd()}…`;
}

/**
 * Formats lines with aligned columns, each indented by `indent`.
 *
 * @param most maximum length of a value
 */
function formatLines(lines: readonly Line[], indent: string, most = VALUE): string[] {
  const shown = lines.map(({ label, value, from }) => ({
    label,
    value: cut(value, most),
    from: printable(from),
  }));
  const width = Math.max(0, ...shown.map(({ value }) => value.length));
  return shown.map(({ label, value, from }) => {
    const text = from === '' ? value : `${value.padEnd(width)}  ← ${from}`;
    return `${indent}${label.padEnd(LABEL)} ${text}`.trimEnd();
  });
}

/** Formats a run as a tree of its spans, each value followed by its source. */
export function formatRun(run: ExplainedRun): string[] {
  const names = new Map(run.spans.map(({ span_id, name }) => [span_id, name]));
  return [
    `${cut(run.agent_name)} · ${run.status} · ${run.trace_id}`,
    ...formatLines(runLines(run, names), '  '),
    '',
    ...formatTree(run.spans),
  ];
}

function runLines(run: ExplainedRun, names: ReadonlyMap<string, string>): Line[] {
  const line = (label: string, value: JsonValue, name: string): Line[] =>
    value === null ? [] : [{ label, value: inLine(value), from: wordGround(run.from[name], names) }];
  const plain = (label: string, value: string | null): Line[] =>
    value === null ? [] : [{ label, value, from: '' }];
  return [
    ...line('agent', run.agent_name, 'agent_name'),
    ...line('kind', run.kind, 'kind'),
    ...line('status', run.status, 'status'),
    ...line('error', run.error_message, 'error_message'),
    ...line('session', run.session_id, 'session_id'),
    ...line('user', run.user_id, 'user_id'),
    ...line('tags', run.tags.length === 0 ? null : run.tags, 'tags'),
    ...line('env', run.environment, 'environment'),
    ...line('release', run.release, 'release'),
    ...line('version', run.agent_version, 'agent_version'),
    ...line('repo', run.repository, 'repository'),
    ...line('success', run.success, 'success'),
    ...line('outcome', run.outcome, 'outcome'),
    ...line(
      'time',
      `${run.started_at}${run.duration_ms === null ? '' : `, ${duration(run.duration_ms)}`}`,
      'started_at',
    ),
    ...line('tokens', run.total_tokens, 'total_tokens'),
    ...line('cost', run.total_cost_usd === null ? null : dollars(run.total_cost_usd), 'total_cost_usd'),
    ...plain(
      'spans',
      `${run.span_count}${run.log_count > 0 ? `, and ${counted(run.log_count, 'log record')}` : ''}`,
    ),
    ...mapLines(run),
  ];
}

/** The source of a run's value, with the name of its span. */
function wordGround(ground: RunGround | undefined, names: ReadonlyMap<string, string>): string {
  if (ground === undefined) return '';
  const name = ground.span_id === null ? undefined : names.get(ground.span_id);
  return name === undefined ? ground.source : `${ground.source}, of "${cut(name, 40)}"`;
}

/** One line for each edge, then the nodes without edges. */
function mapLines({ service_map: { nodes, edges } }: ExplainedRun): Line[] {
  const linked = new Set(edges.flatMap(({ source, target }) => [source, target]));
  const alone = [...new Set(nodes.map(({ name }) => name))].filter((name) => !linked.has(name));
  const shown = [...edges.map(({ source, target }) => `${source} → ${target}`), ...alone];
  return shown.map((value, at) => ({ label: at === 0 ? 'map' : '', value, from: '' }));
}

/** Formats one span in full: complete payloads, and the attributes that no convention read. */
export function formatSpan(run: ExplainedRun, span: ExplainedSpan): string[] {
  const head = { label: 'run', value: `${run.agent_name} · ${run.trace_id}`, from: '' };
  const unread = span.unread.map((key) => `    ${printable(key)}`);
  return [
    `${span.type} ${cut(span.name)} · ${span.status} · ${span.span_id}`,
    ...formatLines([head, ...spanLines(span, true)], '  ', Infinity),
    ...payload('input_data', span.input_data),
    ...payload('output_data', span.output_data),
    ...(unread.length === 0 ? [] : ['', '  unused attributes', ...unread]),
  ];
}

function payload(name: string, data: JsonObject | null): string[] {
  if (data === null) return [];
  const lines = JSON.stringify(data, null, 2).split('\n');
  return ['', `  ${name}`, ...lines.map((line) => `    ${printable(line)}`)];
}

/** Formats the span tree with connecting lines. */
function formatTree(spans: readonly ExplainedSpan[]): string[] {
  return spans.flatMap((span, at) => {
    const { depth } = span;
    /** Whether a later sibling exists for the span or for its ancestor at a depth. */
    const follows = (level: number): boolean => {
      const next = spans.slice(at + 1).find((later) => later.depth <= level);
      return next?.depth === level;
    };
    const above = Array.from({ length: Math.max(0, depth - 1) }, (_, level) =>
      follows(level + 1) ? '│  ' : '   ',
    );
    const before = depth === 0 ? '' : `${above.join('')}${follows(depth) ? '├─ ' : '└─ '}`;
    const hasChildren = (spans[at + 1]?.depth ?? 0) > depth;
    const below = depth === 0 ? '' : `${above.join('')}${follows(depth) ? '│  ' : '   '}`;
    const indent = `  ${below}${hasChildren ? '│    ' : '     '}`;
    return [`  ${before}${headOf(span)}`, ...formatLines(spanLines(span, false), indent)];
  });
}

function headOf(span: ExplainedSpan): string {
  const time = span.duration_ms === null ? [] : [duration(span.duration_ms)];
  const status = span.status === 'completed' ? [] : [span.status];
  return [`${span.type} ${cut(span.name)}`, ...status, ...time].join(' · ');
}

/**
 * The values of a span and their sources.
 *
 * @param isWhole whether to include redundant values: a name equal to the span's, the service as the agent, parts of the input
 */
function spanLines(span: ExplainedSpan, isWhole: boolean): Line[] {
  const line = (label: string, value: JsonValue | undefined, ...names: string[]): Line[] =>
    value === null || value === undefined
      ? []
      : [{ label, value: inLine(value), from: keysInLine(names.flatMap((name) => span.from[name] ?? [])) }];
  const { input_data: input, output_data: output, agent_hint: hint } = span;
  const isNamed = isWhole || span.from.name !== NAME_OF_SPAN;
  const namesAgent = isWhole || span.depth === 0 || (hint !== null && !WEAK.includes(hint.source));
  return [
    ...line('type', span.type, 'type'),
    ...(isNamed ? line('name', span.name, 'name') : []),
    ...(isWhole || span.status !== 'completed' ? line('status', span.status, 'status') : []),
    ...line('error', span.error_message, 'error_message'),
    ...(namesAgent ? line('agent', hint?.name, 'agent') : []),
    ...line('model', span.model, 'model'),
    ...line('provider', span.provider, 'provider'),
    ...line(
      'tokens',
      tokensInLine(span),
      'input_tokens',
      'output_tokens',
      ...(span.from.total_tokens === SUM_OF_TOKENS ? [] : ['total_tokens']),
    ),
    ...line('parts', partsInLine(span.usage), ...USAGE_PARTS),
    ...line('first', firstChunk(span), 'time_to_first_chunk_ms'),
    ...line('cost', span.cost_usd === null ? null : dollars(span.cost_usd), 'cost_usd'),
    ...line(
      'counted',
      span.same_as === undefined ? undefined : `by ${span.same_as}, which reports the same call`,
      'same_as',
    ),
    ...line('session', span.session_id, 'session_id'),
    ...line('user', span.user_id, 'user_id'),
    ...line('tags', span.tags, 'tags'),
    ...line('env', span.environment, 'environment'),
    ...line('release', span.release, 'release'),
    ...line('version', span.agent_version, 'agent_version'),
    ...line('repo', span.repository, 'repository'),
    ...line('input', input === null ? null : inShort(input, 'input'), 'input_data'),
    ...(isWhole ? PARTS_OF_INPUT.flatMap((part) => line(part, input?.[part], part)) : []),
    ...line('output', output === null ? null : inShort(output, 'output'), 'output_data'),
    ...span.scores.flatMap((score) => line('score', scoreInLine(score), 'scores')),
  ];
}

function firstChunk({ time_to_first_chunk_ms: ms }: ExplainedSpan): string | null {
  return ms === null ? null : `chunk after ${duration(ms)}`;
}

const NAME_OF_SPAN = 'name of the span';
/** Agent sources that any span may have. */
const WEAK: readonly AgentSource[] = ['service.name', 'root span'];
const PARTS_OF_INPUT = ['system', 'tools', 'parameters'];

/** Joins keys to one line; keys that share the first one's prefix are shortened. */
function keysInLine(keys: readonly string[]): string {
  const [first, ...others] = new Set(keys);
  if (first === undefined) return '';
  const begin = first.slice(0, first.lastIndexOf('.') + 1);
  return [
    first,
    ...others.map((key) => (begin !== '' && key.startsWith(begin) ? `.${key.slice(begin.length)}` : key)),
  ].join(', ');
}

function scoreInLine({ name, value, label, comment, error_type }: ExplainedScore): string {
  const result = [
    ...(value === null ? [] : [String(value)]),
    ...(label === null ? [] : [label]),
    ...(error_type === null ? [] : [`failed: ${error_type}`]),
  ];
  return `${name} ${result.join(', ')}${comment === null ? '' : ` (${comment})`}`;
}

function tokensInLine({
  input_tokens: input,
  output_tokens: output,
  total_tokens: total,
}: ExplainedSpan): string | null {
  const parts = [
    ...(input === null ? [] : [`${input} in`]),
    ...(output === null ? [] : [`${output} out`]),
    ...(total === null ? [] : [`${total} total`]),
  ];
  return parts.length === 0 ? null : parts.join(', ');
}

function partsInLine(usage: ExplainedSpan['usage']): string | null {
  if (usage === null) return null;
  const parts = USAGE_PARTS.flatMap((part) => (usage[part] === null ? [] : [`${part} ${usage[part]}`]));
  return parts.length === 0 ? null : parts.join(', ');
}

function duration(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(ms >= 10_000 ? 1 : 2)} s`;
  return `${ms >= 10 ? ms.toFixed(0) : ms.toFixed(1)} ms`;
}

/** Prints all digits, without exponent. */
function dollars(amount: number): string {
  return `$${amount.toFixed(9).replace(/0+$/, '').replace(/\.$/, '')}`;
}
