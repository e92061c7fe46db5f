import type { ProcessorFactory } from '../../component/factory.js';
import { rateLimitConfig } from './config.js';
import { createRateLimit } from './rate-limit.js';

export const rateLimitProcessor: ProcessorFactory<typeof rateLimitConfig> = {
  kind: 'processor',
  type: 'rate_limit',
  description: 'Refuses batches that exceed a number of items per second, per user, per key or in total.',
  stability: 'beta',
  configSchema: rateLimitConfig,
  mutatesBatch: false,
  create: {
    traces: ({ next, ...settings }) => createRateLimit('traces', settings, next),
    metrics: ({ next, ...settings }) => createRateLimit('metrics', settings, next),
    logs: ({ next, ...settings }) => createRateLimit('logs', settings, next),
    events: ({ next, ...settings }) => createRateLimit('events', settings, next),
  },
};
