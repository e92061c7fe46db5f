import type { ProcessorFactory } from '../../component/factory.js';
import { validationConfig } from './config.js';
import { createLogValidation, createPointValidation, createTraceValidation } from './validation.js';

export const validationProcessor: ProcessorFactory<typeof validationConfig> = {
  kind: 'processor',
  type: 'validation',
  description: 'Refuses traces, metric points and log records that break a rule or a limit.',
  stability: 'beta',
  configSchema: validationConfig,
  // It trims names.
  mutatesBatch: true,
  placement: () => 'any',
  create: {
    traces: ({ config, next }) => createTraceValidation(config, next),
    metrics: ({ config, next }) => createPointValidation(config, next),
    logs: ({ config, next }) => createLogValidation(config, next),
  },
};
