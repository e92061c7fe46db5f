import { Command, Option } from 'commander';
import type { Static } from 'typebox';
import { searchLogs, type logSchema } from '../api/resources/logs.js';
import { labelsText, listLabels, readSeries } from '../api/resources/metric-series.js';
import { listMetrics } from '../api/resources/metrics.js';
import { comparePrompts } from '../api/resources/prompt-usage.js';
import { promptNames } from '../api/resources/prompts.js';
import { loggedScoreText } from '../api/support/scores.js';
import { SEVERITIES, type Severity } from '../signal/log-record.js';
import { METRIC_AGGREGATIONS } from '../storage/contracts/metrics.js';
import { ApiClient } from './api-client.js';
import type { ProcessIo } from './io.js';
import { readTraceId } from './read-id.js';
import {
  cell,
  dollars,
  isJson,
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

interface LogsOptions extends ReadOptions, PeriodOptions {
  readonly service?: string;
  readonly severity?: Severity;
  readonly event?: string;
  readonly attribute?: Readonly<Record<string, string>>;
  readonly run?: string;
  readonly limit: number;
  readonly cursor?: string;
}

/** `jackdaw logs`: searches log records. */
export function logsCommand(io: ProcessIo): Command {
  const command = withWords(new Command('logs'), '[words...]')
    .description('Search log records, newest first.')
    .option('--service <name>', 'name of the service')
    .addOption(new Option('--severity <severity>', 'exactly this severity').choices(SEVERITIES))
    .option('--event <name>', 'name of the event')
    .option('--attribute <key=value>', 'whole value of an attribute; may be repeated', pair)
    .option('--run <id>', 'records of this run', readTraceId)
    .option('--limit <number>', 'records to list, at most 1000', wholeNumber, 50)
    .option('--cursor <text>', 'next_cursor of an earlier answer');
  return withReadOptions(withPeriod(command, 'records')).action(
    async (words: readonly string[], options: LogsOptions) => {
      const client = await ApiClient.open(options, io);
      const { service, severity, event, attribute, run, limit, cursor } = options;
      const found = await client.call(searchLogs, {
        query: {
          ...periodOf(options),
          ...(words.length > 0 && { query: words.join(' ') }),
          ...(service !== undefined && { service }),
          ...(severity !== undefined && { severity }),
          ...(event !== undefined && { event_name: event }),
          ...(attribute && { 'attribute.KEY': attribute }),
          ...(run !== undefined && { trace_id: run }),
          ...(cursor !== undefined && { cursor }),
          limit,
        },
        places: { query: '<words>' },
      });
      const { items, count, next_cursor } = found;
      show(io, options, {
        json: found,
        rows: items,
        columns: [
          { title: 'time', show: ({ timestamp }) => timestamp },
          { title: 'severity', show: (record) => record.severity },
          { title: 'service', least: 8, leaveOut: 2, show: ({ service_name }) => cell(service_name, 30) },
          { title: 'record', least: 30, show: (record) => cell(recordText(record), 200) },
          { title: 'run', leaveOut: 1, show: ({ trace_id }) => trace_id },
        ],
        none: 'No record matches.',
        ...(next_cursor !== null && {
          more: `${items.length} of ${count} records. More: --cursor ${next_cursor}`,
        }),
      });
    },
  );
}

/** Its body; for an event, its name with the score or the attributes. */
function recordText(record: Static<typeof logSchema>): string | null {
  const { body, event_name = null, attributes } = record;
  if (body !== null) return body;
  const values = Object.entries(attributes).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return loggedScoreText(record) ?? [event_name, ...values].filter((part) => part !== null).join(' ');
}

interface MetricsOptions extends ReadOptions, PeriodOptions {
  readonly agg?: (typeof METRIC_AGGREGATIONS)[number];
  readonly groupBy?: string;
  readonly label?: Readonly<Record<string, string>>;
  readonly step?: number;
}

/** `jackdaw metrics`: lists metrics, or shows the values of one. */
export function metricsCommand(io: ProcessIo): Command {
  const command = new Command('metrics')
    .description('List metrics, or show the values of one over time.')
    .argument('[name]', 'name of a metric')
    .addOption(new Option('--agg <function>', 'aggregation of a step').choices(METRIC_AGGREGATIONS))
    .option('--group-by <keys>', 'label keys, separated by commas; default: one series for everything')
    .option('--label <key=value>', 'label that points must have; may be repeated', pair)
    .option('--step <seconds>', 'length of a step', wholeNumber);
  return withReadOptions(withPeriod(command, 'points')).action(
    async (name: string | undefined, options: MetricsOptions) => {
      const client = await ApiClient.open(options, io);
      if (name === undefined) await showMetrics(io, options, client);
      else await showSeries(io, options, { name, client });
    },
  );
}

async function showMetrics(io: ProcessIo, options: ReadOptions, client: ApiClient): Promise<void> {
  const metrics = await client.call(listMetrics);
  show(io, options, {
    json: metrics,
    rows: metrics,
    columns: [
      { title: 'name', least: 30, show: ({ name }) => cell(name, 80) },
      { title: 'type', show: ({ type }) => type },
      { title: 'unit', show: ({ unit }) => cell(unit, 20) },
      { title: 'points', show: ({ data_point_count: count }) => count },
      { title: 'last seen', leaveOut: 2, show: ({ last_seen_at }) => last_seen_at.slice(0, 19) },
      { title: 'description', least: 20, leaveOut: 1, show: ({ description }) => cell(description) },
    ],
    none: 'There are no metrics.',
  });
}

async function showSeries(
  io: ProcessIo,
  options: MetricsOptions,
  { name, client }: { readonly name: string; readonly client: ApiClient },
): Promise<void> {
  const { agg, label, step, groupBy = '' } = options;
  const found = await client.call(readSeries, {
    query: {
      name,
      ...periodOf(options),
      group_by: groupBy,
      ...(agg !== undefined && { agg }),
      ...(step !== undefined && { step }),
      ...(label && { labels: JSON.stringify(label) }),
    },
  });
  const rows = found.series.flatMap(({ labels, points }) => {
    const text = Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(' ');
    return points.map(([ms = 0, value = 0]) => ({ text, time: new Date(ms).toISOString(), value }));
  });
  const known = isJson(io, options) ? [] : await client.call(listLabels, { query: { name } });
  const more = [
    known.length === 0 ? null : `Labels of the last 7 days: ${cell(labelsText(known), 500) ?? ''}`,
    found.is_truncated ? 'Series or the oldest points were left out: use a shorter period.' : null,
  ].filter((line) => line !== null);
  show(io, options, {
    json: found,
    rows,
    columns: [
      { title: 'time', show: ({ time }) => time.slice(0, 19) },
      {
        title: `${agg ?? 'avg'}${found.unit === '' ? '' : ` (${found.unit})`}`,
        show: ({ value }) => Number(value.toPrecision(6)),
      },
      { title: 'labels', least: 20, show: ({ text }) => cell(text, 80) },
    ],
    none: 'The metric has no points in this period.',
    ...(more.length > 0 && { more: more.join('\n') }),
  });
}

/** `jackdaw prompts`: lists prompts, or the versions of one with their figures. */
export function promptsCommand(io: ProcessIo): Command {
  return withReadOptions(
    new Command('prompts').description('List prompts, or the versions of one with their figures.'),
  )
    .argument('[name]', 'name of a prompt')
    .option('--limit <number>', 'names to list, at most 100', wholeNumber, 100)
    .action(async (name: string | undefined, options: ReadOptions & { readonly limit: number }) => {
      const client = await ApiClient.open(options, io);
      if (name === undefined) {
        const found = await client.call(promptNames, { query: { page_size: options.limit } });
        show(io, options, {
          json: found,
          rows: found.items,
          columns: [{ title: 'name', show: (one) => cell(one, 120) }],
          none: 'There are no prompts.',
          ...(found.has_more && { more: 'There are more prompts: "jackdaw search" finds names.' }),
        });
        return;
      }
      const found = await client.call(comparePrompts, { params: { name } });
      show(io, options, {
        json: found,
        rows: found.versions,
        columns: [
          { title: 'version', show: ({ version }) => version },
          { title: 'runs', show: ({ total_traces: runs }) => runs },
          {
            title: 'success',
            show: ({ success_rate: rate }) => (rate === null ? null : `${(100 * rate).toFixed(1)}%`),
          },
          { title: 'cost a run', show: ({ avg_cost_usd: cost }) => dollars(cost) },
          { title: 'p95', show: ({ p95_latency_ms: ms }) => seconds(ms) },
          { title: 'text', least: 10, show: ({ template_text: text }) => cell(text) },
        ],
        none: 'The prompt has no versions.',
      });
    });
}
