import type { ProcessorFactory } from '../../component/factory.js';
import { conditionProblems } from '../../expressions/conditions.js';
import { sampleConfig } from './config.js';
import { createSample } from './sample.js';

export const sampleProcessor: ProcessorFactory<typeof sampleConfig> = {
  kind: 'processor',
  type: 'sample',
  description: 'Keeps a share of all traces, by their ids, and those of which a condition is true.',
  stability: 'beta',
  configSchema: sampleConfig,
  mutatesBatch: false,
  check: ({ keep }) => conditionProblems('/keep', keep, 'trace'),
  create: { traces: ({ next, ...settings }) => createSample(settings, next) },
};
