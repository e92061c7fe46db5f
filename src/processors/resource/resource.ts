import type { Component } from '../../component/component.js';
import type { Consumer } from '../../component/consumer.js';
import type { Settings } from '../../component/factory.js';
import { EvaluationFailures } from '../../expressions/failures.js';
import { consumerOfRules, dropCounter } from '../../expressions/rules/consume-changed.js';
import { Rules, type Fate } from '../../expressions/rules/rules.js';
import { labelsOf } from '../../otlp/map/point-labels.js';
import type { Batch, LogsBatch, MetricsBatch, TracesBatch } from '../../signal/batch.js';
import type { LogRecord } from '../../signal/log-record.js';
import type { MetricPoint, MetricStream } from '../../signal/metric.js';
import type { TraceRecord } from '../../signal/trace.js';
import { changeRun } from './change-run.js';
import { ChangedResources, RESOURCE_RULES, type ChangingResource } from './changed-resources.js';
import type { ResourceConfig } from './config.js';

/** Processor `resource` for traces: see README.md. */
export function createTraceResource(
  settings: Settings<ResourceConfig>,
  next: Consumer<TracesBatch>,
): Component & Consumer<TracesBatch> {
  const countSpans = dropCounter(settings, 'spans');
  return create<TraceRecord, TracesBatch>(
    settings,
    next,
    'traces',
    (resources) => (item) => changeRun(item, resources, countSpans),
  );
}

/** Processor `resource` for metric points. */
export function createPointResource(
  settings: Settings<ResourceConfig>,
  next: Consumer<MetricsBatch>,
): Component & Consumer<MetricsBatch> {
  return create<MetricPoint, MetricsBatch>(settings, next, 'points', (resources) => {
    const streams = new Map<MetricStream, MetricStream>();
    return (point) => {
      const { stream } = point;
      const { fate, before, after } = resources.origin(stream.origin);
      if (fate !== 'keep' || after === before) return fate;
      let changed = streams.get(stream);
      if (changed === undefined) streams.set(stream, (changed = { ...stream, origin: after }));
      point.stream = changed;
      if (after.serviceName !== before.serviceName)
        point.labels = labelsOf(point.attributes, after.serviceName);
      return fate;
    };
  });
}

/** Processor `resource` for log records. */
export function createLogResource(
  settings: Settings<ResourceConfig>,
  next: Consumer<LogsBatch>,
): Component & Consumer<LogsBatch> {
  return create<LogRecord, LogsBatch>(settings, next, 'logs', (resources) => (log) => {
    const { fate, after } = resources.origin(log.origin);
    log.origin = after;
    return fate;
  });
}

function create<Item, B extends Batch<Item>>(
  settings: Settings<ResourceConfig>,
  next: Consumer<B>,
  label: string,
  changeOf: (resources: ChangedResources) => (item: Item) => Fate,
): Component & Consumer<B> {
  const { rules: configured, on_error: onError } = settings.config;
  const failures = new EvaluationFailures(settings);
  const rules = new Rules<ChangingResource>('rules', configured, RESOURCE_RULES, { onError, failures });
  return consumerOfRules<Item, B>(settings, next, {
    failures,
    label,
    isIdle: rules.areNone,
    begin: (identity) => changeOf(new ChangedResources(rules, identity)),
  });
}
