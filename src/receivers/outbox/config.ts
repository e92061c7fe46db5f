import { Type, type Static } from 'typebox';
import { choice, duration, extensionId, section } from '../../config/schema.js';
import { ALL_EVENTS, EVENT_TYPES } from '../../signal/event.js';

export const outboxConfig = section({
  control: extensionId({
    description: 'Id of the control store, which holds the event log.',
    default: 'sqlite',
  }),
  types: Type.Array(choice([...EVENT_TYPES, ALL_EVENTS], { description: 'Event type, or * for all.' }), {
    uniqueItems: true,
    default: [],
    description: 'Event types to record for every user even without a subscribed endpoint; * for all.',
  }),
  max_batch_size: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    default: 500,
    description: 'Events read at once. The next batch is read while this one is processed.',
  }),
  retry: section(
    {
      initial_interval: duration({ default: '1s', description: 'Wait before the first retry.' }),
      max_interval: duration({
        default: '30s',
        description: 'Longest wait between two attempts, unless a longer one is requested.',
      }),
    },
    { description: 'How refused events are retried. They are never dropped.' },
  ),
});

export type OutboxConfig = Static<typeof outboxConfig>;
