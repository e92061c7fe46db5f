import type { ProcessorFactory } from '../../component/factory.js';
import { quotaConfig } from './config.js';
import { Quota } from './quota.js';

export const quotaProcessor: ProcessorFactory<typeof quotaConfig> = {
  kind: 'processor',
  type: 'quota',
  description: 'Counts the items of each user by month and refuses items above the limit.',
  stability: 'beta',
  configSchema: quotaConfig,
  mutatesBatch: false,
  placement: () => 'any',
  create: {
    traces: (settings) => new Quota('traces', settings),
    metrics: (settings) => new Quota('metrics', settings),
    logs: (settings) => new Quota('logs', settings),
  },
};
