import { Type, type Static } from 'typebox';
import { listTraces } from '../../../api/resources/run-list.js';
import { searchTrace } from '../../../api/resources/search.js';
import { explainSpan } from '../../../api/resources/span-explain.js';
import { readSpan } from '../../../api/resources/trace-spans.js';
import type { listedRunSchema } from '../../../api/support/listed-runs.js';
import { counted } from '../../../api/support/counted.js';
import { scoreFilter } from '../../../api/support/score-filter.js';
import { scoreText } from '../../../api/support/scores.js';
import type { OperationAnswer } from '../../../http/operation-call.js';
import { RUN_KINDS, SPAN_TYPES } from '../../../signal/span.js';
import { costText, durationText, oneLine, tokenText, words, type Answer } from '../answer.js';
import type { ApiCalls } from '../api-calls.js';
import {
  countLine,
  noteCut,
  readTree,
  runLines,
  spanLine,
  type PlacedSpan,
  type SpanTree,
} from '../span-tree.js';
import {
  defineTool,
  limitArgument,
  runArguments,
  runQuery,
  spanId,
  textArgument,
  textsArgument,
  traceId,
  uuidOf,
  type Tool,
} from '../tool.js';

const searchRuns = defineTool({
  name: 'search_runs',
  title: 'Search runs',
  description:
    'List runs of agents, newest first, with status, duration, tokens, cost, error and the beginning of the input. `query` searches words, "phrases", prefix* and -without in names, models, errors, inputs and outputs of runs and their spans.',
  args: Type.Object(
    {
      query: textArgument('Words to find.'),
      ...runArguments,
      attributes: textsArgument(
        'Values of attributes of a span, such as {"http.route": "/pay"}; keys that end with ! or ~ as in where.',
      ),
      model: textArgument('Runs with a call of this model.'),
      span_name: textArgument('Runs with a span of this name, such as a tool.'),
      span_type: Type.Optional(Type.Enum(SPAN_TYPES)),
      prompt_name: textArgument('Runs that used this prompt.'),
      prompt_version: Type.Optional(Type.Integer({ minimum: 0, description: 'Needs prompt_name.' })),
      kind: Type.Optional(
        Type.Enum([...RUN_KINDS, 'all'], {
          description: 'Default: agent. Others are, for example, requests.',
        }),
      ),
      sort: Type.Optional(
        Type.Enum(['started_at', 'duration_ms', 'total_tokens', 'total_cost_usd'], {
          description: 'Descending; default: started_at.',
        }),
      ),
      limit: limitArgument(100, 20),
      cursor: Type.Optional(
        Type.String({ maxLength: 300, description: 'From an earlier answer to the same search.' }),
      ),
    },
    { additionalProperties: false },
  ),
  async run({ limit, attributes, ...filter }, context) {
    const { api, answer } = context;
    const query = {
      ...(await runQuery(filter, context)),
      ...(attributes && { 'attribute.KEY': attributes }),
      page_size: limit,
      previews: true,
      scores: true,
      count: 'none' as const,
    };
    const found = await api.call(listTraces, { query });
    if (found.items.length === 0) answer.note('No run matches.');
    const asked = (scoreFilter(filter).scores ?? []).map(({ name }) => name);
    const shown = answer.list(found.items, (run) => foundLines(run, asked));
    if (shown < found.items.length)
      answer.note(
        `Only ${shown} of ${found.items.length} runs fit: set limit to ${Math.max(1, shown)}, or raise max_tokens.`,
      );
    if (found.searched_back_to)
      answer.note(`Searched back to ${found.searched_back_to}; earlier runs were not searched yet.`);
    if (found.next_cursor !== null && shown === found.items.length)
      answer.note(`Next: the same search with cursor ${JSON.stringify(found.next_cursor)} for more runs.`);
    const failed = found.items.find(({ status, success }) => status === 'failed' || success === false);
    if (failed) answer.next('why_failed', { trace_id: failed.trace_id }, 'explains a failed run.');
    else if (found.items[0])
      answer.next('get_run', { trace_id: found.items[0].trace_id }, 'shows its spans.');
  },
});

/** Most scores of a run in a list. */
const MOST_SCORES = 10;

/** @param asked names of scores by which the runs were selected, shown first */
function foundLines(
  run: Static<typeof listedRunSchema>,
  asked: readonly string[],
): readonly (string | undefined)[] {
  const { match, input_preview: input, error_message: error, models, outcome, scores = [] } = run;
  const isAsked = ({ name }: (typeof scores)[number]) => asked.includes(name);
  const ordered = scores.toSorted((a, b) => Number(isAsked(b)) - Number(isAsked(a)));
  const scoreTexts = ordered
    .slice(0, MOST_SCORES)
    .map((score) => oneLine(scoreText({ ...score, value: score.mean }, score.scores), 60));
  if (scores.length > MOST_SCORES) scoreTexts.push(`${scores.length - MOST_SCORES} more names`);
  return [
    words(
      `${run.started_at} ${run.status}`,
      oneLine(run.agent_name, 80),
      run.success !== null && `success ${run.success}`,
      durationText(run.duration_ms),
      tokenText(run.total_tokens),
      costText(run.total_cost_usd),
      counted(run.span_count, 'span'),
      models && models.length > 0 && oneLine(models.join(', '), 80),
      run.trace_id,
    ),
    outcome === null ? undefined : `  outcome: ${oneLine(outcome)}`,
    error === null ? undefined : `  error: ${oneLine(error)}`,
    match === undefined
      ? undefined
      : `  found in ${match.field}${match.span_id === null ? '' : ` of span ${match.span_id}`}: ${oneLine(match.snippet)}`,
    scores.length === 0 ? undefined : `  scores: ${scoreTexts.join(', ')}`,
    input === undefined || input === null ? undefined : `  input: ${oneLine(input, 120)}`,
  ];
}

const getRun = defineTool({
  name: 'get_run',
  title: 'Get a run',
  description:
    'First call: the outline, a tree with one line per span. Then: `payloads` for inputs and outputs of spans by page (`offset`), or `query` for the spans that contain words.',
  args: Type.Object(
    {
      trace_id: traceId,
      offset: Type.Integer({
        minimum: 0,
        default: 0,
        description: 'First span to show, in the order of the outline.',
      }),
      payloads: Type.Boolean({ default: false, description: 'Shows the input and output of each span.' }),
      query: textArgument('Shows only spans that contain these words.'),
      cursor: Type.Optional(
        Type.String({
          maxLength: 300,
          description: 'With query: from an earlier answer to the same search.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  ids: 'search_runs lists runs with their ids',
  async run({ trace_id, offset, payloads, query, cursor }, { api, answer }) {
    if (query !== undefined) {
      await searchInRun({ trace_id: uuidOf(trace_id), query, cursor }, api, answer);
      return;
    }
    const tree = await readTree(api, trace_id);
    if (offset === 0) for (const line of runLines(tree.run)) answer.line(line);
    answer.line(countLine(tree));
    const spans = tree.spans.slice(offset);
    const shown = payloads
      ? await listPayloads(spans, api, answer)
      : answer.list(spans, ({ span, depth }) => spanLine(span, depth));
    noteCut(tree, answer);
    tellRest(tree, { offset, shown, payloads }, answer);
  },
});

function tellRest(
  { run: { trace_id }, spans }: SpanTree,
  {
    offset,
    shown,
    payloads,
  }: { readonly offset: number; readonly shown: number; readonly payloads: boolean },
  answer: Answer,
): void {
  if (offset > 0 && offset >= spans.length)
    answer.note(`Nothing is at offset ${offset}: ${spans.length} spans can be shown.`);
  const end = offset + shown;
  if (end < spans.length) {
    answer.note(`Shown: spans ${offset} to ${end - 1} of ${spans.length}.`);
    answer.next(
      'get_run',
      { trace_id, offset: end, ...(payloads && { payloads }) },
      'shows the following spans.',
    );
  }
  if (!payloads && spans.length > 0)
    answer.next('get_run', { trace_id, payloads: true }, 'shows inputs and outputs.');
}

/** Searches until something is found; each request searches for a limited time. */
const MOST_SEARCHES = 4;

async function searchInRun(
  asked: { readonly trace_id: string; readonly query: string; readonly cursor: string | undefined },
  api: ApiCalls,
  answer: Answer,
): Promise<void> {
  const { trace_id, query } = asked;
  let { cursor } = asked;
  let items: OperationAnswer<typeof searchTrace>['items'] = [];
  for (let i = 0; i < MOST_SEARCHES && items.length === 0 && (i === 0 || cursor !== undefined); i++) {
    const from = cursor === undefined ? {} : { cursor };
    const found = await api.call(searchTrace, { params: { trace_id }, query: { query, ...from } });
    items = found.items;
    cursor = found.next_cursor ?? undefined;
  }
  const shown = answer.list(items, (match) =>
    words(
      match.span_id === null ? 'the run itself' : `${match.span_type} ${oneLine(match.span_name ?? '', 80)}`,
      `${match.field}: ${oneLine(match.snippet)}`,
      match.span_id,
    ),
  );
  if (shown < items.length) answer.note(`${shown} of ${items.length} matches are shown: use more words.`);
  if (cursor !== undefined)
    answer.note(
      `${items.length === 0 ? 'Nothing found so far; not' : 'Not'} all spans were searched. Next: the same call with cursor ${JSON.stringify(cursor)}.`,
    );
  else if (items.length === 0) answer.note('No span of the run contains these words.');
  const [first] = items;
  if (first !== undefined && first.span_id !== null)
    answer.next('get_span', { trace_id, span_id: first.span_id }, 'shows the first match.');
}

/** Most bytes of one payload when several spans are shown. */
const PAGE_PAYLOAD_BYTES = 2048;
const MAX_PAGE_SPANS = 20;

/** @returns the number of spans shown */
async function listPayloads(spans: readonly PlacedSpan[], api: ApiCalls, answer: Answer): Promise<number> {
  let shown = 0;
  for (const { span, depth } of spans.slice(0, MAX_PAGE_SPANS)) {
    const { trace_id, span_id } = span;
    const query = { max_bytes: PAGE_PAYLOAD_BYTES };
    const { input_data, output_data } = await api.call(readSpan, { params: { trace_id, span_id }, query });
    const lines = [
      spanLine(span, depth),
      input_data === null ? undefined : `  input: ${JSON.stringify(input_data)}`,
      output_data === null ? undefined : `  output: ${JSON.stringify(output_data)}`,
    ];
    const text = lines.filter((line) => line !== undefined).join('\n');
    if (!answer.line(text)) {
      // The first span is always shown, so that a next page makes progress.
      if (shown === 0) shown += answer.block('span', text) > 0 ? 1 : 0;
      break;
    }
    shown++;
  }
  return shown;
}

type ShownSpan = OperationAnswer<typeof readSpan>;
const FIELDS = [
  'input_data',
  'output_data',
  'attributes',
  'events',
  'links',
  'resource',
  'scope',
  'metadata',
] as const;

const getSpan = defineTool({
  name: 'get_span',
  title: 'Get a span',
  description:
    'Everything about a span: input, output, error, attributes, events, usage and cost. Long fields are cut; `field` with `offset` reads one field in full, part by part.',
  args: Type.Object(
    {
      trace_id: traceId,
      span_id: spanId,
      field: Type.Optional(Type.Enum(FIELDS, { description: 'Only this field, as JSON.' })),
      offset: Type.Integer({ minimum: 0, default: 0, description: 'With field: characters to skip.' }),
    },
    { additionalProperties: false },
  ),
  ids: 'get_run shows the spans of a run with their ids',
  async run({ trace_id, span_id, field, offset }, { api, answer }) {
    const params = { trace_id: uuidOf(trace_id), span_id };
    if (field !== undefined) {
      const span = await api.call(readSpan, { params });
      const whole = fieldText(span, field);
      const rest = whole.slice(offset);
      if (rest === '')
        answer.note(`${field} has ${whole.length} characters; nothing is at offset ${offset}.`);
      const shown = answer.block(field, rest);
      if (shown < rest.length)
        answer.next('get_span', { ...params, field, offset: offset + shown }, 'continues.');
      return;
    }
    const span = await api.call(readSpan, { params, query: { max_bytes: Math.max(1024, answer.room) } });
    answer.line(spanLine({ ...span, node: null, input_bytes: null, output_bytes: null, preview: null }));
    answer.line(
      words(`started ${span.started_at}`, span.parent_span_id !== null && `parent ${span.parent_span_id}`),
    );
    if (span.error_message !== null) answer.block('error', span.error_message, answer.room / 3);
    for (const [label, value] of Object.entries({ usage: span.usage, cost: span.cost, scores: span.scores }))
      if (value !== null && (!Array.isArray(value) || value.length > 0))
        answer.block(label, JSON.stringify(value, withoutNulls), answer.room / 4);
    const cutFields: string[] = [];
    const fields = FIELDS.filter((name) => fieldText(span, name) !== '');
    fields.forEach((name, index) => {
      const text = fieldText(span, name);
      // Each field may use its part of the room; what it does not use is left to the others.
      const shown = answer.block(name, text, answer.room / (fields.length - index));
      if (shown < text.length) cutFields.push(name);
    });
    if (cutFields.length > 0 || span.is_truncated === true) {
      const longest = cutFields[0] ?? 'input_data';
      answer.note(`Cut: ${cutFields.length === 0 ? 'long fields' : cutFields.join(', ')}.`);
      answer.next('get_span', { ...params, field: longest }, 'reads a field in full.');
    }
  },
});

function fieldText(span: ShownSpan, field: (typeof FIELDS)[number]): string {
  const value = span[field];
  if (value === null || (Array.isArray(value) && value.length === 0)) return '';
  return JSON.stringify(plainAttributes(value), withoutNulls);
}

function withoutNulls(_: string, value: unknown): unknown {
  return value === null ? undefined : value;
}

/** Lists of OTLP attributes as objects, which take half the tokens. */
function plainAttributes(value: unknown): unknown {
  if (Array.isArray(value)) {
    const isAttributes = value.length > 0 && value.every((item) => isKeyValue(item));
    return isAttributes
      ? Object.fromEntries(value.map(({ key, value: inner }) => [key, plainAttributes(inner)]))
      : value.map(plainAttributes);
  }
  if (typeof value !== 'object' || value === null) return value;
  const [entry, ...others] = Object.entries(value);
  if (entry !== undefined && others.length === 0 && /^(string|int|double|bool|bytes)Value$/.test(entry[0]))
    return entry[1];
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainAttributes(inner)]));
}

function isKeyValue(item: unknown): item is { readonly key: string; readonly value: unknown } {
  return (
    typeof item === 'object' &&
    item !== null &&
    'key' in item &&
    'value' in item &&
    Object.keys(item).length === 2
  );
}

const explain = defineTool({
  name: 'explain_span',
  title: 'Explain a span',
  description:
    'Which attribute or rule gave each value of a span (type, model, tokens, cost, input, agent …), and which attributes gave none. For questions such as "why has this call no cost?".',
  args: Type.Object({ trace_id: traceId, span_id: spanId }, { additionalProperties: false }),
  ids: 'get_run shows the spans of a run with their ids',
  async run({ trace_id, span_id }, { api, answer }) {
    const params = { trace_id: uuidOf(trace_id), span_id };
    const [{ from, unread }, span] = await Promise.all([
      api.call(explainSpan, { params }),
      api.call(readSpan, { params, query: { max_bytes: 1024 } }),
    ]);
    answer.line(spanLine({ ...span, node: null, input_bytes: null, output_bytes: null, preview: null }));
    if (from === null) {
      answer.note('The span was sent by the batch route: its values are as sent.');
      return;
    }
    const values: Readonly<Record<string, unknown>> = { ...span.usage, ...span };
    answer.list(Object.entries(from), ([field, source]) => {
      const value = values[field];
      const shown = value === undefined || value === null ? '' : ` = ${oneLine(textOf(value), 80)}`;
      return `${field}${shown} ← ${oneLine(source, 120)}`;
    });
    if (unread.length > 0) answer.block('attributes that gave no value', unread.join(', '));
    answer.next('get_span', { ...params, field: 'attributes' }, 'shows the attributes as sent.');
  },
});

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export const runTools: readonly Tool[] = [searchRuns, getRun, getSpan, explain];
