import { Type, type Static } from 'typebox';
import { duration, section } from '../../config/schema.js';

export const serviceMapConfig = section({
  threads: Type.Integer({
    minimum: 1,
    maximum: 64,
    default: 1,
    description: 'Number of threads. One keeps up with everything that one process can take in.',
  }),
  max_queue: Type.Integer({
    minimum: 1,
    default: 1024,
    description: 'Batches that may wait for a thread. Further ones wait for a place in the queue.',
  }),
  max_wait: duration({
    description:
      'How long a batch waits for a place in the queue. Then it is refused with 503, to be sent again.',
    default: '5s',
  }),
});

export type ServiceMapConfig = Static<typeof serviceMapConfig>;
