/** What signs are looked for in: a text, or bytes that are read as Latin-1 where a pattern has to see them. */
export interface Source {
  readonly text: string;
  /** The code of a character, or a byte; -1 where there is none. */
  code(at: number): number;
}

export class TextSource implements Source {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  code(at: number): number {
    // Not a number where there is none would be one of another kind for the engine, and slow.
    return at >= 0 && at < this.text.length ? this.text.charCodeAt(at) : -1;
  }
}

/** Most bytes are never made a text of, which takes as long as to look through them. */
export class ByteSource implements Source {
  readonly #bytes: Uint8Array;
  #text: string | undefined;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get text(): string {
    const { buffer, byteOffset, length } = this.#bytes;
    return (this.#text ??= Buffer.from(buffer, byteOffset, length).toString('latin1'));
  }

  code(at: number): number {
    return at >= 0 && at < this.#bytes.length ? (this.#bytes[at] ?? -1) : -1;
  }
}

/** Whether a digit of ASCII stands there. */
export function isDigitIn(source: Source, at: number): boolean {
  const code = source.code(at);
  return code >= 48 && code <= 57;
}
