import { Type, type Static } from 'typebox';
import { choice, duration, extensionId, section } from '../../config/schema.js';
import { ALL_EVENTS, EVENT_TYPES } from '../../signal/event.js';

export const outboxConfig = section({
  control: extensionId({
    description: 'Id of the extension that keeps the log of events.',
    default: 'sqlite',
  }),
  types: Type.Array(
    choice([...EVENT_TYPES, ALL_EVENTS], { description: 'A type of events, or * for all of them.' }),
    {
      uniqueItems: true,
      default: [],
      description:
        'Types of events that are written for every user, even where no webhook endpoint subscribes to them; * for all.',
    },
  ),
  max_batch_size: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    default: 500,
    description: 'Events that are read at once; the next are read while these are handed on.',
  }),
  retry: section(
    {
      initial_interval: duration({ default: '1s', description: 'Wait before the second attempt.' }),
      max_interval: duration({
        default: '30s',
        description: 'Longest wait between two attempts, unless the other side asks for a longer one.',
      }),
    },
    { description: 'When events that were not taken are handed on again. They are never given up.' },
  ),
});

export type OutboxConfig = Static<typeof outboxConfig>;
