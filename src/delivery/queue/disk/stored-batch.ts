import type { About } from './new-records.js';
import type { Place, Segment } from './segment.js';

/** Where a batch lies on disk. */
export interface Stored {
  readonly segment: Segment;
  readonly place: Place;
}

/** A batch that lies on disk. */
export interface StoredBatch {
  readonly about: About;
  readonly items: unknown[];
  readonly stored: Stored;
  /** Of its plain bytes, by which it counts in memory, roughly. */
  readonly bytes: number;
}

/** There is no room for a batch. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull';
}
