/** A name that must be unique exists (`email`, `slug`, `version` of a prompt). */
export class ConflictError extends Error {
  override readonly name = 'ConflictError';
  readonly field: string;
  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}
