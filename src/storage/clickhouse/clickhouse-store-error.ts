/** A store in ClickHouse cannot be opened; the message names the location and the remedy. */
export class ClickHouseStoreError extends Error {
  override readonly name = 'ClickHouseStoreError';
}
