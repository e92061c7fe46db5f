import type { ExportedRow, TransferBase, WrittenFile } from './telemetry-transfer.js';

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
