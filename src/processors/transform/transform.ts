import type { Component } from '../../component/component.js';
import type { Consumer } from '../../component/consumer.js';
import type { Settings } from '../../component/factory.js';
import { EvaluationFailures } from '../../expressions/failures.js';
import { changeSpans, consumerOfRules, dropCounter } from '../../expressions/rules/consume-changed.js';
import { problemsOfRules, Rules, type RuleKind } from '../../expressions/rules/rules.js';
import { logScope, pointScope, spanScope, traceScope, traceView } from '../../expressions/scope/scopes.js';
import type { LogsBatch, MetricsBatch, TracesBatch } from '../../signal/batch.js';
import type { LogRecord } from '../../signal/log-record.js';
import type { MetricPoint } from '../../signal/metric.js';
import type { TraceRecord } from '../../signal/trace.js';
import type { TransformConfig } from './config.js';
import { LOG_TARGETS, POINT_TARGETS, SharedStreams, SPAN_TARGETS, TRACE_TARGETS } from './targets.js';

/** The scope and the writable fields of each list in the configuration. */
const LISTS = {
  spans: { scope: 'span', targets: SPAN_TARGETS },
  traces: { scope: 'trace', targets: TRACE_TARGETS },
  points: { scope: 'point', targets: POINT_TARGETS },
  logs: { scope: 'log', targets: LOG_TARGETS },
} as const;

type ListName = keyof typeof LISTS;

function rulesOf<Record>(
  list: ListName,
  kind: RuleKind<Record>,
  { config }: Settings<TransformConfig>,
  failures: EvaluationFailures,
): Rules<Record> {
  return new Rules(list, config[list], kind, { onError: config.on_error, failures });
}

export function problemsOf(config: TransformConfig): { readonly path: string; readonly message: string }[] {
  return (Object.keys(LISTS) as ListName[]).flatMap((list) =>
    problemsOfRules(list, config[list], LISTS[list]),
  );
}

/** Processor `transform` for log records: see README.md. */
export function createLogTransform(
  settings: Settings<TransformConfig>,
  next: Consumer<LogsBatch>,
): Component & Consumer<LogsBatch> {
  const failures = new EvaluationFailures(settings);
  const rules = rulesOf('logs', LISTS.logs, settings, failures);
  return consumerOfRules<LogRecord, LogsBatch>(settings, next, {
    failures,
    label: 'logs',
    isIdle: rules.areNone,
    begin: (identity) => (log) => rules.apply(log, () => logScope(log, identity)),
  });
}

/** Processor `transform` for metric points. */
export function createPointTransform(
  settings: Settings<TransformConfig>,
  next: Consumer<MetricsBatch>,
): Component & Consumer<MetricsBatch> {
  const failures = new EvaluationFailures(settings);
  const rules = rulesOf('points', LISTS.points, settings, failures);
  return consumerOfRules<MetricPoint, MetricsBatch>(settings, next, {
    failures,
    label: 'points',
    isIdle: rules.areNone,
    begin: (identity) => {
      const streams = new SharedStreams();
      return (point) => {
        const { stream } = point;
        const fate = rules.apply(point, () => pointScope(point, identity));
        streams.share(point, stream);
        return fate;
      };
    },
  });
}

/** Processor `transform` for traces: the header first, then each span. */
export function createTraceTransform(
  settings: Settings<TransformConfig>,
  next: Consumer<TracesBatch>,
): Component & Consumer<TracesBatch> {
  const failures = new EvaluationFailures(settings);
  const headers = rulesOf('traces', LISTS.traces, settings, failures);
  const spans = rulesOf('spans', LISTS.spans, settings, failures);
  const countSpans = dropCounter(settings, 'spans');
  return consumerOfRules<TraceRecord, TracesBatch>(settings, next, {
    failures,
    label: 'traces',
    isIdle: headers.areNone && spans.areNone,
    begin: (identity) => (item) => {
      const fate = headers.apply(item.trace, () => traceScope(traceView(item), identity));
      if (fate !== 'keep' || spans.areNone) return fate;
      return changeSpans(
        item,
        (span) => spans.apply(span, () => spanScope(span, traceView(item), identity)),
        countSpans,
      );
    },
  });
}
