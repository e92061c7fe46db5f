// The store side of exports and imports.

import type { TracesMessage } from '../incoming/encode-traces.js';
import type { Micros } from '../../signal/time.js';

/**
 * A telemetry store that can be exported to a directory and imported from one: `transfer/README.md`. Every method may throw a
 * `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface TelemetryTransfer {
  /** Null if the store supports imports only. */
  readonly out: TelemetryOut | null;
  readonly in: TelemetryIn;
  /** Null if the store has tools of its own for backups. */
  readonly backup: TelemetryBackup | null;
}

/** Copies the files of a store while it is used. One backup at a time. */
export interface TelemetryBackup {
  /**
   * Fixes the moment: from now on nothing is committed and no file is rewritten. Resolves when all events of the moment are in the
   * event log.
   *
   * @returns the files, the main one first; null while another backup is running
   * @throws ConsumeError
   */
  begin(): Promise<readonly SourceFile[] | null>;
  /** Allows commits again. @throws ConsumeError if they had to continue before */
  resume(): Promise<void>;
  /**
   * Allows rewriting again, once all files with `isRewritten` are copied.
   *
   * @returns rows at the moment, by table
   * @throws ConsumeError if a file may have been rewritten before
   */
  release(): Promise<Readonly<Record<string, number>>>;
  /** Must be called after `begin`, even after a failure. */
  end(): Promise<void>;
  /** Current rows, by table. */
  count(): Promise<Readonly<Record<string, number>>>;
}

/** A file to copy. */
export interface SourceFile {
  readonly path: string;
  /** Size at the moment. Bytes behind it belong to later commits. */
  readonly bytes: number;
  /** Open descriptor that must not be closed; null to open the path. */
  readonly descriptor: number | null;
  /** Whether the store may overwrite the file later; all others only grow. */
  readonly isRewritten: boolean;
}

/** One export at a time. */
export interface TelemetryOut {
  /**
   * Fixes the time of the snapshot. Resolves when all events from earlier telemetry are in the event log, so that control data read
   * afterwards contains them.
   *
   * @returns false while another export is running
   */
  begin(): Promise<boolean>;
  /**
   * Writes one or more Parquet files for each table of `EXPORTED`.
   *
   * @param directory an absolute path; existing files are kept
   * @param skipsDamaged whether to skip rows in damaged blocks of the store
   * @throws ConsumeError `store_damaged` for damaged blocks, unless they are skipped
   */
  write(directory: string, abort: AbortSignal, skipsDamaged: boolean): Promise<WrittenTables>;
  /** The progress of {@link write}. */
  progress(): Promise<ExportProgress>;
  /** Releases the snapshot. Must be called after `begin`, even after a failure. */
  end(): Promise<void>;
}

/** Progress of an export in spans, points and log records, which make up nearly all of it. */
export interface ExportProgress {
  /** The table that is being written; null before the first. */
  readonly table: string | null;
  /** Number of rows written to files. */
  readonly rows: number;
  /** Approximate total; null while unknown. */
  readonly total: number | null;
}

/** Progress before the export starts. */
export const NO_PROGRESS: ExportProgress = { table: null, rows: 0, total: null };

/** The exported telemetry. */
export interface WrittenTables {
  /** Named relative to the directory. */
  readonly files: readonly WrittenFile[];
  readonly missing: readonly MissingRows[];
}

/** Rows in damaged blocks. Unknown values are null. */
export interface MissingRows {
  /** A table of the export, or `payloads`: then the spans are present without inputs, outputs and metadata. */
  readonly table: string;
  /** The first and the last commit of the store with such rows. */
  readonly commits: readonly [first: number, last: number];
  readonly rows: number | null;
  /** The tenant numbers of the rows. */
  readonly users: readonly number[] | null;
  readonly from: Micros | null;
  readonly to: Micros | null;
}

export interface WrittenFile {
  readonly name: string;
  readonly rows: number;
}

/** A row of an export, by column name. */
export type ExportedRow = Readonly<Record<string, string | number | boolean | Uint8Array | null>>;

/** Data imported before any run: rows of `agents`, `usage` and `batches`. */
export interface TransferBase {
  readonly agents: readonly ExportedRow[];
  readonly usage: readonly ExportedRow[];
  readonly batches: readonly ExportedRow[];
}

/**
 * Imports telemetry. Imported data is not counted for quotas, causes no events, and follows the same rules for runs as received data.
 * Users and prompts are numbers, as in the export.
 */
export interface TelemetryIn {
  /** Must be called first. @returns false while another process imports, or if one was killed during an import a moment ago */
  begin(): Promise<boolean>;
  /** A description of the data in the store, for its owner; null if the store is empty. */
  holds(): Promise<string | null>;
  /** Must be called second, in an empty store. */
  base(base: TransferBase): Promise<void>;
  /** Parts of runs; a run may have several parts, each with its header. Resolves when they are durable. */
  traces(tenant: number, runs: TransferredRuns): Promise<void>;
  link(tenant: number, link: TransferredLink): Promise<void>;
  /** Rows of `points`. Resolves when they are durable. */
  points(tenant: number, rows: readonly ExportedRow[]): Promise<void>;
  /** Rows of `logs`. Resolves when they are durable. */
  logs(tenant: number, rows: readonly ExportedRow[]): Promise<void>;
  /** Rows of `scores`. Resolves when they are durable. */
  scores(tenant: number, rows: readonly ExportedRow[]): Promise<void>;
  /**
   * Must be called after all data.
   *
   * @param at runs that had timed out at this time are timed out again
   * @returns evidence that covers all stored data, for alert rules (`AlertStats`)
   */
  finish(at: Micros): Promise<string>;
  /** Allows other imports. Must be called after `begin`, even after a failure. */
  end(): Promise<void>;
}

/** Received runs of one user, with their additions to the service map. */
export type TransferredRuns = Pick<TracesMessage, 'receivedAt' | 'traces' | 'spans' | 'map'>;

/** A link between a prompt version and a run, or one span of it. */
export interface TransferredLink {
  readonly promptNo: number;
  readonly traceId: string;
  readonly spanId: string | null;
  readonly linkedAt: Micros;
}

/** A telemetry store that supports exports or imports. */
export interface Transferable {
  readonly transfer: TelemetryTransfer;
}

/** Whether a telemetry store supports exports or imports. */
export function isTransferable(store: object): store is Transferable {
  return 'transfer' in store;
}

/** A control table in a JSON Lines file. */
export interface ControlFile extends WrittenFile {
  /** An absolute path. */
  readonly path: string;
}

/**
 * Exports all control data to a directory and imports it: `transfer/README.md`. Excludes leases, settings of processes, the identity of
 * the store and data of a single telemetry store. Every method may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface ControlTransfer {
  /**
   * Writes a file for each table, from one snapshot taken during the call.
   *
   * @param directory an absolute path
   */
  export(directory: string): Promise<readonly WrittenFile[]>;
  /**
   * Copies the database into a new file, from one snapshot. Writes wait meanwhile.
   *
   * @param path absolute
   * @returns rows of the snapshot, by table
   * @throws Error if the database is not in a file
   */
  copy(path: string): Promise<Readonly<Record<string, number>>>;
  /** A description of the stored data, for its owner; null if the store is empty. */
  holds(): Promise<string | null>;
  /**
   * Reserves the user and prompt numbers in the files, so that telemetry stored under them cannot be assigned to other users.
   *
   * @throws Error that names the file and the line that cannot be used
   */
  reserve(files: readonly ControlFile[]): Promise<void>;
  /**
   * Control data of a shared telemetry store, as {@link importBase} accepts it: rows of one table of the export. Of `batches`, only
   * those stored completely.
   *
   * @param store the identity of the telemetry store
   */
  exportBase(store: string, table: keyof TransferBase): Promise<readonly ExportedRow[]>;
  /**
   * Imports control data of a shared telemetry store: agent names, counted items, and batch names.
   *
   * @param store the identity of the telemetry store
   */
  importBase(store: string, base: TransferBase): Promise<void>;
  /** Imports all tables of the files, or nothing. @throws Error that names the file and the line that cannot be used */
  import(files: readonly ControlFile[]): Promise<void>;
}
