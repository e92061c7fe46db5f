import type { RunState } from './run-state.js';

/** Whether runs are stored, by their ids. May be asked for every run that comes. */
export interface KnownRuns {
  /**
   * Where the run's newest header is to be looked for: a number that only the engine understands. 0 for a run that is certainly
   * not stored.
   *
   * @param words the id in words, from `offset` on
   */
  find(tenant: number, words: Uint32Array, offset: number): number;
}

/** A run to be read: its id as text, and what {@link KnownRuns.find} said of it. */
export interface RunToRead {
  readonly id: string;
  readonly found: number;
}

/** A stored run, as its newest header says it is. */
export interface StoredRun<State extends RunState> {
  /** Without its spans, where it is not closed. */
  readonly state: State;
  /** How many it has. */
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
 * What an engine is asked of the runs that it has, by whoever applies the rules to them: as they were when the commit under way
 * began, which nobody else changes meanwhile. What a commit makes of a run is for the engine to write: `RunState.settle`.
 */
export interface StoredRuns<State extends RunState> {
  /** Reads newest headers of one user's runs. @returns of those that are stored, by id */
  readHeaders(tenant: number, wanted: readonly RunToRead[]): Promise<ReadonlyMap<string, StoredRun<State>>>;

  /** Reads the facts of all spans of these runs of one user, none of which is closed, into their states. */
  readFacts(tenant: number, runs: readonly StoredRun<State>[]): Promise<void>;

  /** Reads the facts of those of some spans that are stored of a closed run: `ClosedSpans.meet`. */
  meetSpans(run: RunId, state: State, spans: readonly SpanIds[]): Promise<void>;

  /**
   * Reads what is left of stored spans of a run into its state: their rows and payloads.
   *
   * @param keys of their ids; those that are not stored, or were read before, are passed over
   * @param maxBytes of payloads: where they are longer only the first of the spans are read, but one at least
   * @returns of how many keys, from the first on, that is done, and how many bytes of payloads were read
   */
  readWhole(
    tenant: number,
    state: State,
    keys: readonly string[],
    maxBytes: number,
  ): Promise<{ readonly keys: number; readonly bytes: number }>;
}
