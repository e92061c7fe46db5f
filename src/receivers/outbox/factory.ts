import { parseDuration } from '../../config/duration.js';
import type { ReceiverFactory } from '../../component/factory.js';
import { outboxConfig } from './config.js';
import { OutboxReceiver } from './receiver.js';

export const outboxReceiver: ReceiverFactory<typeof outboxConfig> = {
  kind: 'receiver',
  type: 'outbox',
  description: 'Reads events from the store, such as finished traces and new agents.',
  stability: 'beta',
  signals: ['events'],
  configSchema: outboxConfig,
  check: ({ retry }) =>
    (['initial_interval', 'max_interval'] as const)
      .filter((key) => parseDuration(retry[key]) === 0)
      .map((key) => ({
        path: `/retry/${key}`,
        message: 'must be greater than 0, or retries have no pause',
      })),
  create: (settings) => new OutboxReceiver(settings),
};
