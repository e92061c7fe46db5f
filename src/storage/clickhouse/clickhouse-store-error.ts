/** A store in ClickHouse cannot be opened: the message names the place and the cure. */
export class ClickHouseStoreError extends Error {
  override readonly name = 'ClickHouseStoreError';
}
