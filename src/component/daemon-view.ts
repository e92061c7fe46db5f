import type { Signal } from '../signal/batch.js';
import type { Micros } from '../signal/time.js';
import type { EdgeEnd, EdgeListener, EdgePlace } from './edge-listener.js';

/** The components of a pipeline, by id. */
export interface PipelineShape {
  /** `traces`, `traces/archive` */
  readonly name: string;
  readonly signal: Signal;
  readonly receivers: readonly string[];
  /** Those whose requests are processed in intake threads. Absent: none. */
  readonly threadedReceivers?: readonly string[];
  /** In the order of the data flow. */
  readonly processors: readonly string[];
  readonly exporters: readonly string[];
}

/** Contents of an exporter's queue. All pipelines of a signal share it. */
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
 * Items that pass from one component to the next within a pipeline, counted since the start. When no batch is in progress,
 * offered = accepted + refused + failed.
 */
export interface EdgeStats {
  readonly pipeline: string;
  readonly from: EdgeEnd;
  readonly to: EdgeEnd;
  readonly offered: number;
  /** Accepted by the component at its end and everything downstream. */
  readonly accepted: number;
  /** Refused individually because of their content. */
  readonly refused: number;
  /** In batches that failed as a whole. */
  readonly failed: number;
  /**
   * 99th percentile of batch durations over the last one to two minutes, including the time downstream; at most a tenth too high. Null
   * if there was no batch.
   */
  readonly p99Ms: number | null;
  /** Null if there is no queue here. */
  readonly queue: QueueStats | null;
}

/** The outcome of a reload of the configuration. */
export interface ReloadReport {
  /**
   * `unchanged`: nothing to do. `applied`. `invalid`: the configuration has errors. `needs_restart`: it changes keys that only a restart
   * applies. `failed`: a component could not start. Only `applied` changes anything but certificates.
   */
  readonly result: 'unchanged' | 'applied' | 'invalid' | 'needs_restart' | 'failed';
  /** Names of components: `processor "cost" in pipeline "traces"`. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Replaced by a new one. */
  readonly changed: readonly string[];
  /** How many keep running unchanged. */
  readonly kept: number;
  /** Changed keys of the configuration, without values. */
  readonly keys: readonly string[];
  /** Keys that need a restart. */
  readonly needsRestart: readonly string[];
  /** Why nothing was changed. */
  readonly errors: readonly string[];
  /** Components and listeners that read new certificates or a changed mail server. */
  readonly renewed: readonly string[];
  /** Those that could not, and keep the old ones. */
  readonly notRenewed: readonly { readonly name: string; readonly reason: string }[];
  /** Hash of the configuration that runs now. */
  readonly configHash: string;
  readonly durationMs: number;
}

/** The daemon seen from inside. */
export interface DaemonView {
  readonly version: string;
  readonly startedAt: Micros;
  readonly pipelines: readonly PipelineShape[];
  /** By pipeline, and along the flow of the data. */
  edges(): readonly EdgeStats[];
  /** Adds a listener to an edge. @returns a function that removes it; null if there is no such edge */
  listen(place: EdgePlace, listener: EdgeListener): (() => void) | null;
  /** Get the effective configuration in YAML. There is no secret in it, and nothing that came from the environment or a file. */
  formatConfig(): string;
  /** Reads the configuration again and applies it. Never rejects. Absent if the daemon was not started from files. */
  readonly reload?: (() => Promise<ReloadReport>) | undefined;
}
