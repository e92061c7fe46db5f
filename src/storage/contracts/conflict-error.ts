/** A name that must be unique exists (`email`, `slug`, `version` of a prompt), or a `prompt` breaks a rule that the message states. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError';
  readonly field: string;
  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}
