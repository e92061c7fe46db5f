import type { RunState } from './run-state.js';

/** Finds stored runs by id. Cheap enough to call for every incoming run. */
export interface KnownRuns {
  /**
   * An opaque location of the run's newest header. 0 if the run is certainly not stored.
   *
   * @param words the id in words, from `offset` on
   */
  find(tenant: number, words: Uint32Array, offset: number): number;
}

/** A run to read: its id as text, and its location from {@link KnownRuns.find}. */
export interface RunToRead {
  readonly id: string;
  readonly found: number;
}

/** A stored run, from its newest header. */
export interface StoredRun<State extends RunState> {
  /** Without its spans, unless it is truncated. */
  readonly state: State;
  /** How many spans it has. */
  readonly spans: number;
}

/** The id of a run, in words from `offset` on. */
export interface RunId {
  readonly tenant: number;
  readonly words: Uint32Array;
  readonly offset: number;
}

/** Ids of spans, each of four words: the rows from `from` up to `to`. */
export interface SpanIds {
  readonly words: Uint32Array;
  readonly from: number;
  readonly to: number;
}

/**
 * Reads of an engine that the rules need: runs as of the start of the current commit, which is the only writer. The engine writes the
 * result of `RunState.finish`.
 */
export interface StoredRuns<State extends RunState> {
  /** Reads the newest headers of one user's runs. @returns the stored ones, by id */
  readHeaders(tenant: number, wanted: readonly RunToRead[]): Promise<ReadonlyMap<string, StoredRun<State>>>;

  /** Reads the facts of all spans of these runs of one user into their states. None of the runs is truncated. */
  readFacts(tenant: number, runs: readonly StoredRun<State>[]): Promise<void>;

  /** Reads the facts of those of the spans that are stored into a truncated run. */
  readSpans(run: RunId, state: State, spans: readonly SpanIds[]): Promise<void>;

  /**
   * Reads the rows and payloads of stored spans of a run into its state.
   *
   * @param keys of their ids; spans that are not stored, or were read before, are skipped
   * @param maxBytes limit of payload bytes; beyond it only the first spans are read, but at least one
   * @returns the number of processed keys, counted from the first, and the bytes of payloads read
   */
  readWhole(
    tenant: number,
    state: State,
    keys: readonly string[],
    maxBytes: number,
  ): Promise<{ readonly keys: number; readonly bytes: number }>;
}
