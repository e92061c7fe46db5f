/** The input of a search for signs: a text, or bytes read as Latin-1 for patterns. */
export interface Source {
  readonly text: string;
  /** The code of a character, or a byte; -1 out of range. */
  code(at: number): number;
}

export class TextSource implements Source {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  code(at: number): number {
    // NaN for an index out of range would change the engine's number type and be slow.
    return at >= 0 && at < this.text.length ? this.text.charCodeAt(at) : -1;
  }
}

/** Searches bytes directly: decoding most of them would take as long as the search. */
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

/** Whether an ASCII digit is at a position. */
export function isDigitIn(source: Source, at: number): boolean {
  const code = source.code(at);
  return code >= 48 && code <= 57;
}
