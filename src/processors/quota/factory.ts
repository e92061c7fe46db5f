import type { ProcessorFactory } from '../../component/factory.js';
import { quotaConfig } from './config.js';
import { Quota } from './quota.js';

export const quotaProcessor: ProcessorFactory<typeof quotaConfig> = {
  kind: 'processor',
  type: 'quota',
  description: 'Has the store count the items of each user by month, and refuse what would exceed a limit.',
  stability: 'beta',
  configSchema: quotaConfig,
  mutatesBatch: false,
  create: {
    traces: ({ config, next }) => new Quota('traces', config, next),
    metrics: ({ config, next }) => new Quota('metrics', config, next),
    logs: ({ config, next }) => new Quota('logs', config, next),
  },
};
