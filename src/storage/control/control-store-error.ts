/** The control store cannot be used. The message names the store, the problem and the remedy. */
export class ControlStoreError extends Error {
  override readonly name = 'ControlStoreError';
}
