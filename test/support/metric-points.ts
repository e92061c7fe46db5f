import type { MetricPoint, MetricStream } from '../../src/signal/metric.js';
import { NOON } from './run-records.js';

/** A gauge of a service by default. */
export function aMetric(changes: Partial<MetricStream> = {}): MetricStream {
  return {
    name: 'cpu.load',
    type: 'gauge',
    unit: '1',
    description: 'Load of the processor',
    temporality: null,
    is_monotonic: null,
    origin: { resource: { 'service.name': 'checkout' }, scope: null, serviceName: 'checkout' },
    ...changes,
  };
}

export function aPoint(changes: Partial<MetricPoint> = {}): MetricPoint {
  return {
    stream: aMetric(),
    labels: { service_name: 'checkout' },
    attributes: {},
    timestamp: NOON,
    start_time: null,
    value: 1,
    flags: 0,
    distribution: null,
    exemplars: null,
    ...changes,
  };
}
