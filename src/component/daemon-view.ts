import type { Signal } from '../signal/batch.js';
import type { Micros } from '../signal/time.js';
import type { EdgeEnd, EdgeListener, EdgePlace } from './edge-listener.js';

/** What a pipeline is made of, by the ids of its components. */
export interface PipelineShape {
  /** `traces`, `traces/archive` */
  readonly name: string;
  readonly signal: Signal;
  readonly receivers: readonly string[];
  /** In the order in which data flows. */
  readonly processors: readonly string[];
  readonly exporters: readonly string[];
}

/** What waits before an exporter that has a queue. It is shared by all pipelines of a signal. */
export interface QueueStats {
  readonly items: number;
  /** Null for a queue on disk, which is limited by its bytes alone. */
  readonly maxItems: number | null;
  /** Of memory, as an estimate, or of the disk. */
  readonly bytes: number;
  /** On disk that of all signals of the exporter together. */
  readonly maxBytes: number;
}

/**
 * What passes from one component to the next within a pipeline, counted in items since the start. Once nothing is under way,
 * offered = accepted + refused + failed.
 */
export interface EdgeStats {
  readonly pipeline: string;
  readonly from: EdgeEnd;
  readonly to: EdgeEnd;
  readonly offered: number;
  /** Taken by what it leads to and everything behind that. */
  readonly accepted: number;
  /** One by one, because of what is in them. */
  readonly refused: number;
  /** In batches that failed as a whole. */
  readonly failed: number;
  /**
   * 99 of 100 batches of the last one to two minutes took no longer, waiting for what is behind included; at most a tenth too much. Null:
   * there was none.
   */
  readonly p99Ms: number | null;
  /** Null: nothing waits here. */
  readonly queue: QueueStats | null;
}

/** The daemon seen from inside. */
export interface DaemonView {
  readonly version: string;
  readonly startedAt: Micros;
  readonly pipelines: readonly PipelineShape[];
  /** By pipeline, and along the flow of the data. */
  edges(): readonly EdgeStats[];
  /** Has somebody look at what passes an edge from now on. @returns a function that ends it; null where there is no such edge */
  listen(place: EdgePlace, listener: EdgeListener): (() => void) | null;
  /** Get the effective configuration in YAML. There is no secret in it, and nothing that came from the environment or a file. */
  formatConfig(): string;
}
