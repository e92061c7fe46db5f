import { Type, type Static } from 'typebox';
import { choice, section, size } from '../../config/schema.js';

export const debugConfig = section({
  verbosity: choice(['basic', 'normal', 'detailed'], {
    default: 'basic',
    description:
      'Detail per batch: basic (one line), normal (a line per item, no payloads) or detailed (all fields).',
  }),
  sampling_initial: Type.Integer({
    default: 2,
    minimum: 0,
    description: 'Batches that are always written in each second.',
  }),
  sampling_thereafter: Type.Integer({
    default: 1,
    minimum: 0,
    description: 'Interval at which further batches of that second are written. 1: every batch. 0: none.',
  }),
  max_items: Type.Integer({
    default: 100,
    minimum: 1,
    description: 'Items of one batch that are written.',
  }),
  max_item_size: size({
    default: '16KiB',
    description: 'Characters of one item that verbosity detailed writes; the rest is cut.',
  }),
});

export type DebugConfig = Static<typeof debugConfig>;
