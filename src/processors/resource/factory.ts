import type { ProcessorFactory } from '../../component/factory.js';
import { problemsOfRules } from '../../expressions/rules/rules.js';
import { RESOURCE_RULES } from './changed-resources.js';
import { resourceConfig } from './config.js';
import { createLogResource, createPointResource, createTraceResource } from './resource.js';

export const resourceProcessor: ProcessorFactory<typeof resourceConfig> = {
  kind: 'processor',
  type: 'resource',
  description: 'Sets, renames and deletes resource attributes of spans, metric points and log records.',
  stability: 'beta',
  configSchema: resourceConfig,
  mutatesBatch: true,
  placement: () => 'any',
  check: ({ rules }) => problemsOfRules('rules', rules, RESOURCE_RULES),
  create: {
    traces: ({ next, ...settings }) => createTraceResource(settings, next),
    metrics: ({ next, ...settings }) => createPointResource(settings, next),
    logs: ({ next, ...settings }) => createLogResource(settings, next),
  },
};
