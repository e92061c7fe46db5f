/** A request that cannot be decoded. No part of it is accepted. */
export class OtlpDecodeError extends Error {
  override readonly name = 'OtlpDecodeError';
  /** The problem at the place, as the rest of a sentence: `must be a list`. */
  readonly reason: string;
  /** Whether it is too large rather than wrong. */
  readonly isTooLarge: boolean;
  #place: string;

  /** @param place a JSON Pointer into the request, or `byte 123` of a protobuf message; empty for the whole request. */
  constructor(reason: string, options: { place?: string; isTooLarge?: boolean; cause?: unknown } = {}) {
    super(reason, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.isTooLarge = options.isTooLarge ?? false;
    this.#place = options.place ?? '';
  }

  get place(): string {
    return this.#place;
  }

  /** Prefixes a step to the place, called by each enclosing level from the innermost out. @param step of a JSON Pointer */
  under(step: string | number): void {
    this.#place = `/${step}${this.#place}`;
  }
}
