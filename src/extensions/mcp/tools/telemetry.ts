import { Type, type Static } from 'typebox';
import { listAllEvents } from '../../../api/resources/alerts/alert-events.js';
import type { AlertJson } from '../../../api/resources/alerts/alert-schema.js';
import { listAlerts } from '../../../api/resources/alerts/alerts.js';
import { searchLogs, type logSchema } from '../../../api/resources/logs.js';
import { labelsText, listLabels, readSeries } from '../../../api/resources/metric-series.js';
import { listMetrics } from '../../../api/resources/metrics.js';
import { readServiceMap } from '../../../api/resources/service-map.js';
import { counted } from '../../../api/support/counted.js';
import { loggedScoreText } from '../../../api/support/scores.js';
import type { OperationAnswer } from '../../../http/operation-call.js';
import { SEVERITIES } from '../../../signal/log-record.js';
import { SCORE_ATTRIBUTES } from '../../../signal/score.js';
import { METRIC_AGGREGATIONS } from '../../../storage/contracts/metrics.js';
import { durationText, figure, oneLine, shareText, words, type Answer } from '../answer.js';
import {
  defineTool,
  limitArgument,
  period,
  textArgument,
  textsArgument,
  timesOf,
  traceId,
  uuidOf,
  type Tool,
} from '../tool.js';

const findLogs = defineTool({
  name: 'search_logs',
  title: 'Search logs',
  description:
    'Log records, newest first. `query` searches words, "phrases", prefix* and -without in bodies, event names and attribute values.',
  args: Type.Object(
    {
      query: textArgument('Words to find.'),
      service: textArgument('Name of the service.'),
      severity: Type.Optional(Type.Enum(SEVERITIES, { description: 'Exactly this severity.' })),
      event_name: textArgument('Name of the event.'),
      attributes: textsArgument('Whole values of attributes.'),
      trace_id: Type.Optional(traceId),
      ...period,
      limit: limitArgument(200, 30),
      cursor: Type.Optional(
        Type.String({ maxLength: 300, description: 'From an earlier answer to the same search.' }),
      ),
    },
    { additionalProperties: false },
  ),
  async run({ since, until, attributes, trace_id, ...filter }, { api, answer, clock }) {
    const query = {
      ...filter,
      ...timesOf({ since, until }, clock),
      ...(trace_id !== undefined && { trace_id: uuidOf(trace_id) }),
      ...(attributes && { 'attribute.KEY': attributes }),
    };
    const { items, count, next_cursor } = await api.call(searchLogs, { query });
    const shown = answer.list(items, logLine);
    answer.note(count === 0 ? 'No record matches.' : `${shown} of ${count} matching records.`);
    if (shown < items.length)
      answer.note(`Set limit to ${Math.max(1, shown)}, or raise max_tokens, to page.`);
    else if (next_cursor !== null)
      answer.note(`Next: the same search with cursor ${JSON.stringify(next_cursor)} for older records.`);
    const traced = items.find((record) => record.trace_id !== null);
    if (traced?.trace_id) answer.next('get_run', { trace_id: traced.trace_id }, 'shows the run of a record.');
  },
});

/** One line about a log record. */
export function logLine(record: Static<typeof logSchema>): string {
  const { body, event_name: event } = record;
  const score = loggedScoreText(record);
  const attributes = Object.entries(record.attributes).filter(
    ([key]) => score === undefined || !SCORE_ATTRIBUTES.includes(key),
  );
  return words(
    `${record.timestamp} ${record.severity.toUpperCase()}`,
    record.service_name !== '' && oneLine(record.service_name, 60),
    event !== undefined && event !== null && oneLine(event, 60),
    score !== undefined && oneLine(score, 300),
    body !== null && oneLine(body, 300),
    attributes.length > 0 && oneLine(JSON.stringify(Object.fromEntries(attributes)), 300),
    record.trace_id !== null && `run ${record.trace_id}`,
  );
}

const queryMetric = defineTool({
  name: 'query_metric',
  title: 'Query a metric',
  description:
    'Without `name`: the metrics that exist. With `name`: its values over time, grouped by labels.',
  args: Type.Object(
    {
      name: textArgument('Name of the metric.'),
      query: textArgument('Without name: part of the names to list.'),
      agg: Type.Optional(
        Type.Enum(METRIC_AGGREGATIONS, {
          description: 'Default: avg. rate for counters, p95 for histograms.',
        }),
      ),
      group_by: Type.Optional(
        Type.Array(Type.String({ minLength: 1 }), {
          maxItems: 8,
          description: 'Label keys. Default: none, one series for everything.',
        }),
      ),
      labels: textsArgument('Labels that points must have.', 32),
      step: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400, description: 'Seconds.' })),
      ...period,
    },
    { additionalProperties: false },
  ),
  ids: 'query_metric without name lists metrics',
  async run({ name: metric, query, agg, group_by = [], labels, step, since, until }, { api, answer, clock }) {
    if (metric === undefined) {
      const wanted = query?.toLowerCase() ?? '';
      const metrics = (await api.call(listMetrics)).filter((one) => one.name.toLowerCase().includes(wanted));
      const shown = answer.list(metrics, ({ name: one, type, unit, description, data_point_count: count }) =>
        words(oneLine(one, 150), type, unit, `${count} points`, oneLine(description, 100)),
      );
      if (metrics.length === 0)
        answer.note(
          query === undefined
            ? 'There are no metrics.'
            : 'No name contains this: leave out query to list all metrics.',
        );
      if (shown < metrics.length) answer.note(`${shown} of ${metrics.length} metrics: narrow with query.`);
      return;
    }
    const found = await api.call(readSeries, {
      query: {
        name: metric,
        ...timesOf({ since, until }, clock),
        group_by: group_by.join(','),
        ...(agg !== undefined && { agg }),
        ...(labels && { labels: JSON.stringify(labels) }),
        ...(step !== undefined && { step }),
      },
    });
    const known = await api.call(listLabels, { query: { name: metric } });
    if (known.length > 0) answer.line(`labels of the last 7 days: ${oneLine(labelsText(known), 500)}`);
    showSeries(found, agg ?? 'avg', answer);
  },
});

function showSeries(
  { type, unit, step, start_time, end_time, series, is_truncated }: OperationAnswer<typeof readSeries>,
  agg: string,
  answer: Answer,
): void {
  answer.line(
    words(
      `${type}, ${agg}${unit === '' ? '' : ` in ${oneLine(unit, 20)}`}`,
      `step ${step} s`,
      `${start_time} to ${end_time}`,
    ),
  );
  const shown = answer.list(series, ({ labels, points }) => {
    const values = points.map(([, value = 0]) => value);
    const [first, last] = [points[0], points.at(-1)];
    if (first === undefined || last === undefined) return `${labelText(labels)}: no points`;
    const sum = values.reduce((total, value) => total + value, 0);
    return [
      `${labelText(labels)}: ${words(
        counted(points.length, 'step'),
        `min ${figure(values.reduce((a, b) => Math.min(a, b)))}`,
        `max ${figure(values.reduce((a, b) => Math.max(a, b)))}`,
        `mean ${figure(sum / values.length)}`,
        `last ${figure(last[1] ?? 0)} at ${isoTime(last)}`,
      )}`,
      `  from ${isoTime(first)}: ${thinned(points)
        .map(([ms = 0, value = 0]) => `+${Math.round((ms - (first[0] ?? 0)) / 1000)}s ${figure(value)}`)
        .join(', ')}`,
    ];
  });
  if (series.length === 0) answer.note('The metric has no points in this period.');
  if (shown < series.length)
    answer.note(`${shown} of ${series.length} series: narrow with labels or group_by.`);
  if (is_truncated) answer.note('The store left out series or the oldest points: narrow the period.');
}

const MOST_POINTS = 24;

/** Evenly chosen points, with the last one. */
function thinned<Point>(points: readonly Point[]): readonly Point[] {
  const every = Math.ceil(points.length / MOST_POINTS);
  return points.filter((_, index) => (points.length - 1 - index) % every === 0);
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const text = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ');
  return text === '' ? 'all' : oneLine(text, 200);
}

function isoTime([ms = 0]: readonly number[]): string {
  return new Date(ms).toISOString();
}

const serviceMap = defineTool({
  name: 'service_map',
  title: 'Service map',
  description: 'Agents, services, tools and databases with the calls between them: weight, failures and p95.',
  args: Type.Object(
    {
      node: textArgument('Only this node and its neighbours.'),
      ...period,
    },
    { additionalProperties: false },
  ),
  async run({ node, since, until }, { api, answer, clock }) {
    const times = timesOf({ since, until }, clock);
    const map = await api.call(readServiceMap, { query: times });
    const edges = map.edges.filter(
      ({ source, target }) => node === undefined || source === node || target === node,
    );
    const near = new Set(edges.flatMap(({ source, target }) => [source, target]));
    const nodes = map.nodes.filter(({ id }) => node === undefined || id === node || near.has(id));
    if (nodes.length === 0) {
      answer.note(
        node === undefined
          ? 'The map is empty in this period.'
          : 'There is no such node: call service_map without node.',
      );
      return;
    }
    answer.line(`${nodes.length} nodes, ${edges.length} calls between them; most failures first`);
    const failures = (item: { readonly error_count: number | null }) => item.error_count ?? 0;
    const shownNodes = answer.list(
      nodes
        .toSorted((a, b) => failures(b) - failures(a) || b.span_count - a.span_count)
        .slice(0, node === undefined ? 50 : 200),
      (one) =>
        words(
          `${one.node_type} ${oneLine(one.id, 100)}`,
          counted(one.span_count, 'span'),
          statsText(one, one.span_count),
        ),
    );
    const shownEdges = answer.list(
      edges.toSorted((a, b) => failures(b) - failures(a) || b.weight - a.weight),
      (edge) =>
        words(
          `${oneLine(edge.source, 80)} → ${oneLine(edge.target, 80)}`,
          counted(edge.weight, 'call'),
          statsText(edge, edge.weight),
        ),
    );
    if (shownNodes < nodes.length || shownEdges < edges.length)
      answer.note(
        `Shown: ${shownNodes} of ${nodes.length} nodes, ${shownEdges} of ${edges.length} calls. Name a node, or a shorter period.`,
      );
    if (times.start_time === undefined && times.end_time === undefined)
      answer.note('Period: the last 24 hours.');
  },
});

function statsText(
  { error_count, p95_ms }: { readonly error_count: number | null; readonly p95_ms: number | null },
  calls: number,
): string {
  const p95 = durationText(p95_ms);
  return words(
    error_count !== null && error_count > 0 && `${error_count} failed (${shareText(error_count, calls)})`,
    p95 && `p95 ${p95}`,
  );
}

const showAlerts = defineTool({
  name: 'list_alerts',
  title: 'List alerts',
  description: 'Alert rules, which of them are firing, and recent firings with the runs that explain them.',
  args: Type.Object({ ...period }, { additionalProperties: false }),
  async run({ since, until }, { api, answer, clock }) {
    const query = { ...timesOf({ since, until }, clock), page_size: 10 };
    const [alerts, events] = await Promise.all([api.call(listAlerts), api.call(listAllEvents, { query })]);
    const sorted = alerts.toSorted((a, b) => Number(b.is_firing) - Number(a.is_firing));
    const shown = answer.list(sorted, alertLine);
    if (alerts.length === 0) answer.note('There are no alerts.');
    if (shown < alerts.length) answer.note(`${shown} of ${alerts.length} alerts; firing ones come first.`);
    answer.section(
      ['recent firings:', 'recent firings'],
      events.items,
      ({ fired_at, resolved_at, type, target, value, threshold, trace_ids, is_test }) =>
        words(
          `${fired_at} ${type}`,
          is_test && 'a test notification',
          target.kind === 'all_agents' ? target.name : `${target.kind} ${oneLine(target.name, 80)}`,
          value !== null && `${figure(value)} against ${figure(threshold)}`,
          !is_test && (resolved_at === null ? 'not resolved' : `resolved ${resolved_at}`),
          trace_ids.length > 0 && `runs ${trace_ids.slice(0, 3).join(' ')}`,
        ),
    );
    const run = events.items.find(({ trace_ids }) => trace_ids.length > 0)?.trace_ids[0];
    if (run !== undefined)
      answer.next('why_failed', { trace_id: run }, 'explains a run of the latest firing.');
  },
});

function alertLine(alert: AlertJson): string {
  return words(
    alert.is_firing ? 'FIRING' : alert.is_active ? 'ok' : 'paused',
    alert.type,
    alert.name !== null && JSON.stringify(oneLine(alert.name, 80)),
    alert.all_agents && 'all agents',
    alert.agent_name !== null && `agent ${oneLine(alert.agent_name, 80)}`,
    alert.target_service !== null && `service ${oneLine(alert.target_service, 80)}`,
    alert.score_config &&
      `score ${oneLine(alert.score_config.score_name, 80)} ${alert.score_config.direction} the threshold`,
    alert.type !== 'composite' && `threshold ${figure(alert.threshold)}`,
    alert.composite_config && oneLine(JSON.stringify(alert.composite_config), 200),
    alert.last_fired_at !== null && `last fired ${alert.last_fired_at}`,
    alert.id,
  );
}

export const telemetryTools: readonly Tool[] = [findLogs, queryMetric, serviceMap, showAlerts];
