import type { ReadBatch } from './batch-codec.js';
import type { About } from './new-records.js';
import type { Place, Segment } from './segment.js';

/** The place of a batch on disk. */
export interface Stored {
  readonly segment: Segment;
  readonly place: Place;
}

/** A batch stored on disk. */
export interface StoredBatch extends ReadBatch {
  readonly about: About;
  readonly stored: Stored;
}

/** There is no room for a batch. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull';
}
