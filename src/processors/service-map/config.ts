import { Type, type Static } from 'typebox';
import { duration, section } from '../../config/schema.js';

export const serviceMapConfig = section({
  threads: Type.Integer({
    minimum: 1,
    maximum: 64,
    default: 1,
    description: 'Threads that derive. One keeps up with what one process can take in.',
  }),
  max_queue: Type.Integer({
    minimum: 1,
    default: 1024,
    description: 'Batches that may wait for a thread. More wait for a place.',
  }),
  max_wait: duration({
    description: 'How long a batch waits for a place. Then it is refused with 503, to be sent again.',
    default: '5s',
  }),
});

export type ServiceMapConfig = Static<typeof serviceMapConfig>;
