import { Type, type Static } from 'typebox';
import { duration, section } from '../../config/schema.js';

export const serviceMapConfig = section({
  threads: Type.Integer({
    minimum: 1,
    maximum: 64,
    default: 1,
    description: 'Number of threads. One is enough for everything that one daemon can ingest.',
  }),
  max_queue: Type.Integer({
    minimum: 1,
    default: 1024,
    description: 'Batches in the queue. Further batches wait up to max_wait for a place.',
  }),
  max_wait: duration({
    description: 'Time that a batch waits for a place in the queue. Afterwards it gets a retryable 503.',
    default: '5s',
  }),
});

export type ServiceMapConfig = Static<typeof serviceMapConfig>;
