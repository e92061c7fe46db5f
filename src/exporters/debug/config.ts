import { Type, type Static } from 'typebox';
import { choice, section, size } from '../../config/schema.js';

export const debugConfig = section({
  verbosity: choice(['basic', 'normal', 'detailed'], {
    default: 'basic',
    description:
      'basic: one line for each batch. normal: also one line for each item, without payloads. detailed: also everything in it.',
  }),
  sampling_initial: Type.Integer({
    default: 2,
    minimum: 0,
    description: 'How many batches are written in each second.',
  }),
  sampling_thereafter: Type.Integer({
    default: 1,
    minimum: 0,
    description: 'Of the other batches in that second every nth is written. 1: all of them. 0: none.',
  }),
  max_items: Type.Integer({
    default: 100,
    minimum: 1,
    description: 'How many items of one batch are written.',
  }),
  max_item_size: size({
    default: '16KiB',
    description: 'How many characters of one item detailed writes; the rest is cut.',
  }),
});

export type DebugConfig = Static<typeof debugConfig>;
