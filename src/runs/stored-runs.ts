import type { RunState } from './run-state.js';

/** Whether runs are stored, by their ids. May be asked for every run that comes. */
export interface KnownRuns {
  /**
   * Where to look for the run's newest header: a number that only the engine understands. 0 for a run that is certainly not
   * stored.
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

/** A stored run, as its newest header describes it. */
export interface StoredRun<State extends RunState> {
  /** Without its spans, unless it is closed. */
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
 * What is asked of an engine by whoever applies the rules to its runs: how they were when the commit under way began, which
 * nobody else changes meanwhile. What a commit makes of a run is for the engine to write: `RunState.settle`.
 */
export interface StoredRuns<State extends RunState> {
  /** Reads the newest headers of one user's runs. @returns the stored ones, by id */
  readHeaders(tenant: number, wanted: readonly RunToRead[]): Promise<ReadonlyMap<string, StoredRun<State>>>;

  /** Reads the facts of all spans of these runs of one user, none of which is closed, into their states. */
  readFacts(tenant: number, runs: readonly StoredRun<State>[]): Promise<void>;

  /** Of some spans of a truncated run, reads the facts of those that are stored: `TruncatedSpans.meet`. */
  meetSpans(run: RunId, state: State, spans: readonly SpanIds[]): Promise<void>;

  /**
   * Reads what is left of stored spans of a run into its state: their rows and payloads.
   *
   * @param keys of their ids; spans that are not stored, or were read before, are skipped
   * @param maxBytes of payloads: where they are longer only the first of the spans are read, but at least one
   * @returns for how many keys, counted from the first, this is done, and how many bytes of payloads were read
   */
  readWhole(
    tenant: number,
    state: State,
    keys: readonly string[],
    maxBytes: number,
  ): Promise<{ readonly keys: number; readonly bytes: number }>;
}
