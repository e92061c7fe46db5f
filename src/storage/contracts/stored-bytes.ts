/** How much of its storage a user has used. */
export interface StorageUse {
  /** Null: not measured yet, because measuring failed. */
  readonly used: number | null;
  /** Null: no limit. */
  readonly limit: number | null;
}

/** What users store, in telemetry and control, and may store. Every method may throw a `ConsumeError` with `storage_unavailable`. */
export interface StoredBytes {
  read(userId: string): Promise<StorageUse>;
  /**
   * For whoever writes something else than signals. Counts it until the next measurement.
   *
   * @param bytes that are going to be written
   * @throws ConsumeError `storage_exceeded` where the user has reached the limit
   */
  take(userId: string, bytes: number): Promise<void>;
}
