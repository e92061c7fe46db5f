import { Type, type Static } from 'typebox';
import { duration, section } from '../../config/schema.js';

const NO_EFFECT = 'No effect: the map is derived in the thread that processes the batch. Remove the key.';

/** Keys of the threads that used to derive maps: configurations that have them stay valid. */
export const serviceMapConfig = section({
  threads: Type.Optional(Type.Integer({ minimum: 1, maximum: 64, description: NO_EFFECT })),
  max_queue: Type.Optional(Type.Integer({ minimum: 1, description: NO_EFFECT })),
  max_wait: Type.Optional(duration({ description: NO_EFFECT })),
});

export type ServiceMapConfig = Static<typeof serviceMapConfig>;
