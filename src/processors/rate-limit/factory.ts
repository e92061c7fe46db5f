import type { ProcessorFactory } from '../../component/factory.js';
import { rateLimitConfig } from './config.js';
import { createRateLimit } from './rate-limit.js';

export const rateLimitProcessor: ProcessorFactory<typeof rateLimitConfig> = {
  kind: 'processor',
  type: 'rate_limit',
  description: 'Refuses batches of a user, a key or all that come faster than a number of items a second.',
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
