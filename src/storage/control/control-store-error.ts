/** The control store cannot be used as it is. The text says what is wrong, with what, and the cure. */
export class ControlStoreError extends Error {
  override readonly name = 'ControlStoreError';
}
