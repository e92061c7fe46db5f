import type { ProcessorFactory } from '../../component/factory.js';
import { transformConfig } from './config.js';
import { createLogTransform, createPointTransform, createTraceTransform, problemsOf } from './transform.js';

export const transformProcessor: ProcessorFactory<typeof transformConfig> = {
  kind: 'processor',
  type: 'transform',
  description: 'Sets, renames and deletes fields of spans, traces, metric points and log records.',
  stability: 'beta',
  configSchema: transformConfig,
  mutatesBatch: true,
  placement: () => 'any',
  check: problemsOf,
  create: {
    traces: ({ next, ...settings }) => createTraceTransform(settings, next),
    metrics: ({ next, ...settings }) => createPointTransform(settings, next),
    logs: ({ next, ...settings }) => createLogTransform(settings, next),
  },
};
