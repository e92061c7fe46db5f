import { Command, Option } from 'commander';
import type { Static } from 'typebox';
import { listTraces } from '../api/resources/run-list.js';
import { searchAll } from '../api/resources/search.js';
import { readSummary } from '../api/resources/trace-spans.js';
import type { listedRunSchema } from '../api/support/listed-runs.js';
import { scoreText } from '../api/support/scores.js';
import type { OperationAnswer } from '../http/operation-call.js';
import { RUN_STATUSES } from '../signal/span.js';
import { ApiClient } from './api-client.js';
import type { ProcessIo } from './io.js';
import { readTraceId } from './read-id.js';
import {
  agentOf,
  cell,
  dollars,
  pair,
  periodOf,
  seconds,
  show,
  wholeNumber,
  withPeriod,
  withReadOptions,
  withWords,
  type PeriodOptions,
  type ReadOptions,
} from './read-options.js';
import type { Column } from './table.js';

type ListedRun = Static<typeof listedRunSchema>;
type Span = OperationAnswer<typeof readSummary>['spans'][number];

const RUN_COLUMNS: readonly Column<ListedRun>[] = [
  { title: 'started', show: (run) => run.started_at.slice(0, 19) },
  { title: 'status', show: (run) => statusText(run) },
  { title: 'agent', least: 8, show: (run) => cell(run.agent_name, 30) },
  { title: 'duration', leaveOut: 3, show: (run) => seconds(run.duration_ms) },
  { title: 'tokens', leaveOut: 5, show: (run) => run.total_tokens },
  { title: 'cost', leaveOut: 4, show: (run) => dollars(run.total_cost_usd) },
  { title: 'id', show: (run) => run.trace_id },
  {
    title: 'about',
    least: 20,
    leaveOut: 2,
    show: (run) => cell(run.match?.snippet ?? run.error_message ?? run.input_preview),
  },
];
/** Shown if a run has scores. */
const SCORES: Column<ListedRun> = {
  title: 'scores',
  least: 16,
  leaveOut: 6,
  show: ({ scores = [] }) =>
    cell(scores.map((score) => scoreText({ ...score, value: score.mean }, score.scores)).join(', ')),
};

const SPAN_COLUMNS: readonly Column<{ readonly span: Span; readonly depth: number }>[] = [
  {
    title: 'span',
    least: 20,
    show: ({ span, depth }) => `${'  '.repeat(Math.min(depth, 20))}${span.type} ${cell(span.name, 50) ?? ''}`,
  },
  { title: 'status', show: ({ span }) => span.status },
  { title: 'duration', show: ({ span }) => seconds(span.duration_ms) },
  { title: 'model', least: 8, leaveOut: 3, show: ({ span }) => cell(span.model, 30) },
  { title: 'tokens', leaveOut: 5, show: ({ span }) => span.total_tokens },
  { title: 'cost', leaveOut: 4, show: ({ span }) => dollars(span.cost_usd) },
  { title: 'id', leaveOut: 2, show: ({ span }) => span.span_id },
  { title: 'error', least: 12, leaveOut: 1, show: ({ span }) => cell(span.error_message) },
];

/** The status; for a run that ended well without success, that. */
function statusText({ status, success }: ListedRun): string {
  return status === 'completed' && success === false ? 'no success' : status;
}

interface RunsOptions extends ReadOptions, PeriodOptions {
  readonly query?: string;
  readonly agent?: string;
  readonly status?: ListedRun['status'];
  readonly success?: boolean;
  readonly user?: string;
  readonly session?: string;
  readonly tag?: string;
  readonly environment?: string;
  readonly release?: string;
  readonly model?: string;
  readonly score?: string[];
  readonly metadata?: Readonly<Record<string, string>>;
  readonly attribute?: Readonly<Record<string, string>>;
  readonly kind?: 'agent' | 'other' | 'all';
  readonly sort?: 'started_at' | 'duration_ms' | 'total_tokens' | 'total_cost_usd';
  readonly limit: number;
  readonly cursor?: string;
}

/** `jackdaw runs`: lists runs, or shows one. */
export function runsCommand(io: ProcessIo): Command {
  const command = new Command('runs')
    .description('List runs, newest first, or show the spans of one run.')
    .argument('[id]', 'id of a run: UUID, or 32 hexadecimal digits; --query searches for words', readTraceId)
    .option('--query <words>', 'words, "phrases", prefix* and -without, in runs and their spans')
    .option('--agent <name>', 'name or id of an agent')
    .addOption(new Option('--status <status>', 'status of the runs').choices(RUN_STATUSES))
    .option('--success', 'only successful runs')
    .option('--no-success', 'only runs that were not successful')
    .option('--user <id>', 'end user')
    .option('--session <id>', 'session')
    .option('--tag <tag>', 'tag')
    .option('--environment <name>', 'environment, such as production')
    .option('--release <name>', 'release of the program')
    .option('--model <name>', 'runs with a call of this model')
    .option(
      '--score <condition>',
      'helpfulness<0.5, tone=polite, helpfulness (has one) or !helpfulness; may be repeated',
      (text: string, known: string[] | undefined) => [...(known ?? []), text],
    )
    .option(
      '--metadata <key=value>',
      'value of a metadata key; KEY!=VALUE for any other, KEY~=TEXT for a part; may be repeated',
      pair,
    )
    .option(
      '--attribute <key=value>',
      'value of an attribute of a span, also KEY!=VALUE or KEY~=TEXT; may be repeated',
      pair,
    )
    .addOption(new Option('--kind <kind>', 'kind of runs').choices(['agent', 'other', 'all']))
    .addOption(
      new Option('--sort <field>', 'descending order of the list').choices([
        'started_at',
        'duration_ms',
        'total_tokens',
        'total_cost_usd',
      ]),
    )
    .option('--limit <number>', 'runs to list, at most 100', wholeNumber, 20)
    .option('--cursor <text>', 'next_cursor of an earlier answer');
  return withReadOptions(withPeriod(command, 'runs started')).action(
    async (id: string | undefined, options: RunsOptions) => {
      const client = await ApiClient.open(options, io);
      if (id === undefined) await listRuns(io, options, client);
      else await showRun(io, options, { trace_id: id, client });
    },
  );
}

async function listRuns(io: ProcessIo, options: RunsOptions, client: ApiClient): Promise<void> {
  const { agent, user, session, limit, metadata, attribute } = options;
  const { query, status, success, tag, environment, release, model, kind, sort, cursor, score } = options;
  const wanted = {
    ...(await agentOf(agent, client)),
    ...periodOf(options),
    ...defined({ query, status, success, tag, environment, release, model, kind, sort, score }),
    ...defined({
      user_id: user,
      session_id: session,
      'metadata.KEY': metadata,
      'attribute.KEY': attribute,
    }),
    page_size: limit,
    previews: true,
    scores: true,
    count: 'none',
  } as const;
  const page = (after: string | undefined) =>
    client.call(listTraces, { query: { ...wanted, ...defined({ cursor: after }) } });
  let found = await page(cursor);
  // A search that found nothing in its time is not over.
  while (found.items.length === 0 && found.next_cursor !== null) found = await page(found.next_cursor);
  const back = found.searched_back_to;
  const more = [
    back ? `Searched back to ${back}.` : '',
    found.next_cursor === null ? '' : `More: --cursor ${found.next_cursor}`,
  ].filter((sentence) => sentence !== '');
  show(io, options, {
    json: found,
    rows: found.items,
    columns: found.items.some(({ scores = [] }) => scores.length > 0)
      ? [...RUN_COLUMNS, score === undefined ? SCORES : { ...SCORES, leaveOut: 1 }]
      : RUN_COLUMNS,
    none: 'No run matches.',
    ...(more.length > 0 && { more: more.join(' ') }),
  });
}

/** Only the values that are set: the API refuses none of them, and defaults apply to the others. */
function defined<Values extends object>(
  values: Values,
): { [Name in keyof Values]?: NonNullable<Values[Name]> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Values]?: NonNullable<Values[Name]>;
  };
}

async function showRun(
  io: ProcessIo,
  options: ReadOptions,
  { trace_id, client }: { readonly trace_id: string; readonly client: ApiClient },
): Promise<void> {
  const run = await client.call(readSummary, { params: { trace_id } });
  show(io, options, {
    json: run,
    rows: withDepth(run.spans),
    columns: SPAN_COLUMNS,
    none: 'The run has no spans.',
    more: [
      `${run.agent_name}: ${run.status}, ${seconds(run.duration_ms) ?? 'not ended'}, ${run.total_tokens ?? 0} tokens, ${dollars(run.total_cost_usd) ?? 'no cost'}`,
      run.error_message,
      ...run.scores.map((score) =>
        [`score ${scoreText(score)}`, score.comment].filter((part) => part !== null).join(': '),
      ),
    ]
      .map((line) => cell(line, 300))
      .filter((line) => line !== null)
      .join('\n'),
  });
}

/** Spans in the order of their start, each with its number of known ancestors. */
function withDepth(spans: readonly Span[]): readonly { readonly span: Span; readonly depth: number }[] {
  const depths = new Map<string, number>();
  return spans.map((span) => {
    const above = span.parent_span_id === null ? undefined : depths.get(span.parent_span_id);
    const depth = above === undefined ? 0 : above + 1;
    depths.set(span.span_id, depth);
    return { span, depth };
  });
}

interface Found {
  readonly what: string;
  readonly name: string | null;
  readonly id: string | null;
}

/** `jackdaw search`: finds names, runs and log records. */
export function searchCommand(io: ProcessIo): Command {
  const command = new Command('search').description('Find names, runs and log records that contain words.');
  return withReadOptions(withWords(command, '<words...>'))
    .option('--limit <number>', 'matches of each kind, at most 20', wholeNumber, 5)
    .action(async (words: readonly string[], options: ReadOptions & { readonly limit: number }) => {
      const client = await ApiClient.open(options, io);
      const found = await client.call(searchAll, {
        query: { query: words.join(' '), limit: options.limit },
        places: { query: '<words>' },
      });
      const rows: Found[] = [
        ...found.agents.map(({ id, name }) => ({ what: 'agent', name, id })),
        ...found.prompts.map((name) => ({ what: 'prompt', name, id: null })),
        ...found.models.map((name) => ({ what: 'model', name, id: null })),
        ...found.sessions.map(({ value, runs }) => ({ what: 'session', name: `${runs} runs`, id: value })),
        ...found.users.map(({ value, runs }) => ({ what: 'user', name: `${runs} runs`, id: value })),
        ...found.runs.map((run) => ({
          what: 'run',
          name: `${run.agent_name}: ${run.match?.snippet ?? run.status}`,
          id: run.trace_id,
        })),
        ...found.logs.map(({ severity, body, event_name, id, trace_id }) => ({
          what: `${severity} log`,
          name: body ?? event_name ?? '',
          id: trace_id === null ? id : `run ${trace_id}`,
        })),
      ];
      show(io, options, {
        json: found,
        rows,
        columns: [
          { title: 'found', show: ({ what }) => what },
          { title: 'name', least: 20, show: ({ name }) => cell(name, 80) },
          { title: 'id', show: ({ id }) => cell(id, 80) },
        ],
        none: 'Nothing matches.',
        ...(found.runs_searched_back_to !== null && {
          more: `Runs were searched back to ${found.runs_searched_back_to}: use "jackdaw runs --query" for earlier ones.`,
        }),
      });
    });
}
