import { structuredPatch } from 'diff';
import { Type } from 'typebox';
import { listPromptLabels } from '../../../api/resources/prompt-labels.js';
import { comparePrompts } from '../../../api/resources/prompt-usage.js';
import { promptNames } from '../../../api/resources/prompts.js';
import { counted } from '../../../api/support/counted.js';
import { HttpProblem } from '../../../component/http.js';
import { validationProblem } from '../../../http/field-errors.js';
import type { OperationAnswer } from '../../../http/operation-call.js';
import { costText, durationText, figure, oneLine, words, type Answer } from '../answer.js';
import type { ApiCalls } from '../api-calls.js';
import {
  countLine,
  isFailed,
  noteCut,
  readTree,
  runLines,
  spanLine,
  type SpanRow,
  type SpanTree,
} from '../span-tree.js';
import { defineTool, traceId, type Tool } from '../tool.js';

const compareRuns = defineTool({
  name: 'compare_runs',
  title: 'Compare two runs',
  description:
    'Two runs side by side: status, duration, tokens and cost, where their steps first differ, and which kinds of spans differ in number, failures, time or cost.',
  args: Type.Object({ trace_id: traceId, other_trace_id: traceId }, { additionalProperties: false }),
  ids: 'search_runs lists runs with their ids',
  async run({ trace_id, other_trace_id }, { api, answer }) {
    const [a, b] = await Promise.all([readTree(api, trace_id), readTree(api, other_trace_id)]);
    for (const [label, tree] of [
      ['A', a],
      ['B', b],
    ] as const)
      for (const line of [...runLines(tree.run), countLine(tree)]) answer.line(`${label}: ${line}`);
    showDivergence(a, b, answer);
    const groups = groupsOf(a, b);
    const differing = groups.filter(({ inA, inB }) => textOf(inA) !== textOf(inB));
    answer.line(
      differing.length === 0
        ? 'all kinds of spans have the same figures'
        : 'differences by kind of span (A | B):',
    );
    const shown = answer.list(differing, ({ key, inA, inB }) => `${key}: ${textOf(inA)} | ${textOf(inB)}`);
    if (shown < differing.length)
      answer.note(`${shown} of ${differing.length} differing kinds of spans are shown.`);
    noteCut(a, answer);
    noteCut(b, answer);
    for (const { run } of [a, b])
      if (run.status === 'failed')
        answer.next('why_failed', { trace_id: run.trace_id }, 'explains the failed run.');
  },
});

/** The first step at which the runs differ, in the order of the tree. */
function showDivergence(a: SpanTree, b: SpanTree, answer: Answer): void {
  const key = ({ type, name, status }: SpanRow) => `${type} ${name} ${status}`;
  const most = Math.max(a.spans.length, b.spans.length);
  for (let i = 0; i < most; i++) {
    const [one, other] = [a.spans[i], b.spans[i]];
    if (one && other && key(one.span) === key(other.span)) continue;
    answer.line(
      i === 0 ? 'the first spans differ:' : `the first ${i} spans have the same names and results, then:`,
    );
    answer.line(`A ${one ? spanLine(one.span) : '- (no further span)'}`);
    answer.line(`B ${other ? spanLine(other.span) : '- (no further span)'}`);
    return;
  }
  answer.line('all spans have the same names and results, in the same order');
}

interface SpanGroup {
  count: number;
  failed: number;
  ms: number;
  tokens: number;
  cost: number;
}

function groupsOf(a: SpanTree, b: SpanTree) {
  const groups = new Map<string, { key: string; inA: SpanGroup; inB: SpanGroup }>();
  const none = (): SpanGroup => ({ count: 0, failed: 0, ms: 0, tokens: 0, cost: 0 });
  const add = (side: 'inA' | 'inB', { spans }: SpanTree): void => {
    for (const { span } of spans) {
      const key = words(
        `${span.type} ${oneLine(span.name, 60)}`,
        span.model !== null && oneLine(span.model, 60),
      );
      const group = groups.get(key) ?? { key, inA: none(), inB: none() };
      groups.set(key, group);
      const sums = group[side];
      sums.count++;
      sums.failed += isFailed(span) ? 1 : 0;
      sums.ms += span.duration_ms ?? 0;
      sums.tokens += span.total_tokens ?? 0;
      sums.cost += span.cost_usd ?? 0;
    }
  };
  add('inA', a);
  add('inB', b);
  const weight = ({ inA, inB }: { inA: SpanGroup; inB: SpanGroup }) => Math.abs(inA.ms - inB.ms);
  return [...groups.values()].sort((one, other) => weight(other) - weight(one));
}

function textOf({ count, failed, ms, tokens, cost }: SpanGroup): string {
  if (count === 0) return 'none';
  return words(
    `${count}×`,
    failed > 0 && `${failed} failed`,
    durationText(ms),
    tokens > 0 && `${tokens} tokens`,
    cost > 0 && costText(cost),
  );
}

type PromptStats = OperationAnswer<typeof comparePrompts>['versions'][number];
type Labels = OperationAnswer<typeof listPromptLabels>;
/** The names with the most scores. */
const MAX_SCORE_NAMES = 5;
/** Comparing long texts line by line must not hold the process. */
const DIFF_TIMEOUT_MS = 200;

const compareVersions = defineTool({
  name: 'compare_prompt_versions',
  title: 'Compare versions of a prompt',
  description:
    'Labels, runs, success, cost, latency and scores of each version of a prompt, and the difference of the texts of two versions (default: the two newest).',
  args: Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 1024, description: 'Name of the prompt.' }),
      version: Type.Optional(Type.Integer({ minimum: 0 })),
      other_version: Type.Optional(Type.Integer({ minimum: 0, description: 'Needs version.' })),
    },
    { additionalProperties: false },
  ),
  async run({ name, version, other_version }, { api, answer }) {
    const { versions } = await readVersions(name, api);
    const one = versionOf(versions, 'version', version) ?? versions[0];
    const other =
      versionOf(versions, 'other_version', other_version) ?? versions.find((each) => each !== one);
    const labels = await api.call(listPromptLabels, { params: { name } });
    const shown = answer.list(versions.slice(0, 50), (each) => [
      statsLine(each, labels),
      ...each.scores.slice(0, MAX_SCORE_NAMES).map(scoreLine),
    ]);
    if (shown < versions.length)
      answer.note(`${shown} of ${versions.length} versions are shown, newest first.`);
    if (one === undefined) return;
    if (other === undefined) {
      answer.block(`text of version ${one.version}`, one.template_text);
      return;
    }
    const [older, newer] = one.version < other.version ? [one, other] : [other, one];
    const label = `text, version ${older.version} (-) to version ${newer.version} (+)`;
    answer.block(label, differenceOf(older.template_text, newer.template_text));
    answer.note('Figures with few runs say little; compare_runs shows single runs.');
  },
});

/** @throws HttpProblem 422 with names that contain this one */
async function readVersions(name: string, api: ApiCalls): Promise<OperationAnswer<typeof comparePrompts>> {
  try {
    return await api.call(comparePrompts, { params: { name } });
  } catch (error) {
    if (!(error instanceof HttpProblem) || error.status !== 404 || error.code === 'not_served') throw error;
    const all = await api.call(promptNames, { query: { page_size: 10 } });
    const names = all.items.map((item) => JSON.stringify(item)).join(', ');
    const hint = names === '' ? 'there are no prompts' : `prompts: ${names}${all.has_more ? ' …' : ''}`;
    throw validationProblem('arguments', [{ field: 'name', message: `is not a prompt; ${hint}` }]);
  }
}

function versionOf(
  versions: readonly PromptStats[],
  field: string,
  version: number | undefined,
): PromptStats | undefined {
  if (version === undefined) return undefined;
  const found = versions.find((each) => each.version === version);
  if (found) return found;
  const known = versions
    .slice(0, 20)
    .map((each) => each.version)
    .join(', ');
  throw validationProblem('arguments', [
    { field, message: `is not a version of the prompt; it has ${known}` },
  ]);
}

function statsLine(
  { version, total_traces: runs, success_rate: success, ...stats }: PromptStats,
  labels: Labels,
): string {
  const p95 = durationText(stats.p95_latency_ms);
  return words(
    `version ${version}`,
    ...labels.map((label) => labelText(label, version)),
    counted(runs, 'run'),
    success !== null && `success ${figure(success * 100)}%`,
    stats.avg_cost_usd !== null && `${costText(stats.avg_cost_usd)} a run`,
    p95 && `p95 ${p95}`,
  );
}

/** A label that serves the version, with the share of its sessions if it serves several versions. */
function labelText({ label, versions }: Labels[number], version: number): string | undefined {
  const target = versions.find((each) => each.version === version);
  if (target === undefined) return undefined;
  const sum = versions.reduce((weights, { weight }) => weights + weight, 0);
  return `label ${label}${target.weight < sum ? ` (${figure((100 * target.weight) / sum)}%)` : ''}`;
}

function scoreLine({ name, scores, mean, min, max }: PromptStats['scores'][number]): string {
  const values =
    mean === null ? 'no values' : `mean ${figure(mean)}, ${figure(min ?? mean)} to ${figure(max ?? mean)}`;
  return `  score ${words(oneLine(name, 60), `${scores}×`, values)}`;
}

function differenceOf(older: string, newer: string): string {
  if (older === newer) return '(the texts are equal)';
  const patch = structuredPatch('', '', older, newer, '', '', { context: 2, timeout: DIFF_TIMEOUT_MS });
  if (patch === undefined) return newer;
  return patch.hunks.map(({ oldStart, lines }) => [`@ line ${oldStart}`, ...lines].join('\n')).join('\n');
}

export const compareTools: readonly Tool[] = [compareRuns, compareVersions];
