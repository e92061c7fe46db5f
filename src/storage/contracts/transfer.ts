// What stores do for exports and imports.

import type { TracesMessage } from '../incoming/encode-traces.js';
import type { Micros } from '../../signal/time.js';

/**
 * A store of telemetry that can be written into a directory, and filled from one: `transfer/README.md`. Every method may throw a
 * `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface TelemetryTransfer {
  /** Null where it can be filled only. */
  readonly out: TelemetryOut | null;
  readonly in: TelemetryIn;
}

/** One export at a time. */
export interface TelemetryOut {
  /**
   * Fixes the moment of which everything is written. Resolves when all events that followed from telemetry until then lie in the log
   * of events, so that what is read of the control plane from then on has them.
   *
   * @returns false while another export is under way
   */
  begin(): Promise<boolean>;
  /**
   * Writes one Parquet file or several for each of `EXPORTED`.
   *
   * @param directory an absolute path; what is there already stays
   * @param skipsDamaged whether to leave out rows that lie in damaged blocks of the store
   * @throws ConsumeError `store_damaged` for damaged blocks, unless they are skipped
   */
  write(directory: string, abort: AbortSignal, skipsDamaged: boolean): Promise<WrittenTables>;
  /** How far {@link write} has come. */
  progress(): Promise<ExportProgress>;
  /** Lets the moment go. To be called after `begin`, whatever happened. */
  end(): Promise<void>;
}

/** How far an export has come: of spans, points and log records, which are nearly all of it. */
export interface ExportProgress {
  /** Which of the tables of an export is written now; null before the first. */
  readonly table: string | null;
  /** Those that lie in files. */
  readonly rows: number;
  /** About how many there are; null as long as that is not known. */
  readonly total: number | null;
}

/** Before anything is written. */
export const NO_PROGRESS: ExportProgress = { table: null, rows: 0, total: null };

/** What was written of the telemetry. */
export interface WrittenTables {
  /** By their names in the directory. */
  readonly files: readonly WrittenFile[];
  readonly missing: readonly MissingRows[];
}

/** Rows that lie in damaged blocks. What cannot be told of them is null. */
export interface MissingRows {
  /** Of the export, or `payloads`: then the spans are there, without inputs, outputs and metadata. */
  readonly table: string;
  /** The first and the last commit of the store that brought such rows. */
  readonly commits: readonly [first: number, last: number];
  readonly rows: number | null;
  /** The numbers of their users. */
  readonly users: readonly number[] | null;
  readonly from: Micros | null;
  readonly to: Micros | null;
}

export interface WrittenFile {
  readonly name: string;
  readonly rows: number;
}

/** Rows of an export, by the names of their columns. */
export type ExportedRow = Readonly<Record<string, string | number | boolean | Uint8Array | null>>;

/** What is there before any run is: rows of `agents`, `usage` and `batches`. */
export interface TransferBase {
  readonly agents: readonly ExportedRow[];
  readonly usage: readonly ExportedRow[];
  readonly batches: readonly ExportedRow[];
}

/**
 * What is filled in counts for no quota, brings no events, and goes by the rules of runs like anything that comes. Users and prompts
 * are numbers, as in the export.
 */
export interface TelemetryIn {
  /** To be called first. @returns false while another process fills it, or where one was killed a moment ago that did */
  begin(): Promise<boolean>;
  /** What the store already holds, in words for its owner; null where it holds nothing. */
  holds(): Promise<string | null>;
  /** To be called next, in a store that holds nothing. */
  base(base: TransferBase): Promise<void>;
  /** Parts of runs; a run may come in several, each with its header. Resolves when they are durable. */
  traces(tenant: number, runs: TransferredRuns): Promise<void>;
  link(tenant: number, link: TransferredLink): Promise<void>;
  /** Rows of `points`. Resolves when they are durable. */
  points(tenant: number, rows: readonly ExportedRow[]): Promise<void>;
  /** Rows of `logs`, likewise. */
  logs(tenant: number, rows: readonly ExportedRow[]): Promise<void>;
  /**
   * To be called when all is there.
   *
   * @param at runs that had timed out at that moment do so again
   * @returns evidence of having seen all that is stored, for alert rules (`AlertStats`)
   */
  finish(at: Micros): Promise<string>;
  /** Lets others fill it. To be called after `begin`, whatever happened. */
  end(): Promise<void>;
}

/** Runs of one user as they come, with what they add to the service map. */
export type TransferredRuns = Pick<TracesMessage, 'receivedAt' | 'traces' | 'spans' | 'map'>;

/** A link between a prompt version and a run, or one span of it. */
export interface TransferredLink {
  readonly promptNo: number;
  readonly traceId: string;
  readonly spanId: string | null;
  readonly linkedAt: Micros;
}

/** A store of telemetry that can be written into a directory, or filled from one. */
export interface Transferable {
  readonly transfer: TelemetryTransfer;
}

/** Whether a store of telemetry can be transferred. */
export function isTransferable(store: object): store is Transferable {
  return 'transfer' in store;
}

/** A table of control data in a file of JSON lines, a row a line. */
export interface ControlFile extends WrittenFile {
  /** An absolute path. */
  readonly path: string;
}

/**
 * Everything that the control plane keeps, written into a directory and filled in from one: `transfer/README.md`. Leases, terms of
 * processes, the identity of the store and what belongs to one store of telemetry alone are left out. Every method may throw a
 * `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface ControlTransfer {
  /**
   * Writes a file for each table, all as of one moment, which lies in the time of the call.
   *
   * @param directory an absolute path
   */
  export(directory: string): Promise<readonly WrittenFile[]>;
  /** What is already kept, in words for its owner; null where nothing is. */
  holds(): Promise<string | null>;
  /**
   * Keeps the numbers of users and prompts that files have from being given to others, so that what lies in a store of telemetry
   * under these numbers is nobody else's.
   *
   * @throws Error that names the file and the line that cannot be used
   */
  reserve(files: readonly ControlFile[]): Promise<void>;
  /**
   * What is kept here of a store of telemetry that several processes write to, as {@link importBase} takes it: rows of the table of an
   * export. Of `batches` those that are stored as a whole.
   *
   * @param store the identity of the store of telemetry
   */
  exportBase(store: string, table: keyof TransferBase): Promise<readonly ExportedRow[]>;
  /**
   * Fills in what is kept here of a store of telemetry that several processes write to: names of its agents, items counted, and names
   * of batches.
   *
   * @param store the identity of the store of telemetry
   */
  importBase(store: string, base: TransferBase): Promise<void>;
  /** Fills in all tables of files, or nothing. @throws likewise */
  import(files: readonly ControlFile[]): Promise<void>;
}
