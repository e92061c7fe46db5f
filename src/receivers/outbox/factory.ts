import { parseDuration } from '../../config/duration.js';
import type { ReceiverFactory } from '../../component/factory.js';
import { outboxConfig } from './config.js';
import { OutboxReceiver } from './receiver.js';

export const outboxReceiver: ReceiverFactory<typeof outboxConfig> = {
  kind: 'receiver',
  type: 'outbox',
  description: 'Hands on the events that the store keeps: finished traces, new agents and the like.',
  stability: 'beta',
  signals: ['events'],
  configSchema: outboxConfig,
  check: ({ retry }) =>
    (['initial_interval', 'max_interval'] as const)
      .filter((key) => parseDuration(retry[key]) === 0)
      .map((key) => ({
        path: `/retry/${key}`,
        message: 'must be more than 0: attempts would follow each other without a pause',
      })),
  create: (settings) => new OutboxReceiver(settings),
};
