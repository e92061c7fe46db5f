/** The control store cannot be used as it is: the text names what is wrong, with what, and the cure. */
export class ControlStoreError extends Error {
  override readonly name = 'ControlStoreError';
}
