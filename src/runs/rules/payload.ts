import type { TextScratch } from '../../worker/text-scratch.js';

/** The payload of a span in addition to its columns; null for a missing part. */
export interface Payload {
  /** `input_data` and `output_data`, as JSON. */
  readonly input: Uint8Array | null;
  readonly output: Uint8Array | null;
  /** `metadata` as JSON; with `sent`, only values that cannot be derived from it. */
  readonly metadata: Uint8Array | null;
  /** A `Span` of OTLP in protobuf, and what it came under: a `ResourceSpans` with a `ScopeSpans`. */
  readonly sent: Uint8Array | null;
  readonly origin: Uint8Array | null;
}

export const NO_PAYLOAD: Payload = { input: null, output: null, metadata: null, sent: null, origin: null };

/** In the first byte of a frame: which parts follow. */
const PARTS = { input: 1, output: 2, metadata: 4, sent: 8, origin: 16 } as const;
/** In the first byte: the span has the same origin as the previous one in the piece. */
const SAME_ORIGIN = 32;
/** In the first byte: a piece begins here. */
const BEGINS_PIECE = 64;
const LENGTH_BYTES = 4;

/** Most bytes of a UTF-16 unit in UTF-8. */
const UNIT_BYTES = 3;

/** The parts of a payload as a writer has them: texts of JSON, and bytes. */
export interface GivenPayload {
  readonly input: string | Uint8Array | null;
  readonly output: string | Uint8Array | null;
  readonly metadata: string | Uint8Array | null;
  readonly sent: Uint8Array | null;
  readonly origin: Uint8Array | null;
}

/**
 * Writes payloads one after the other, each as a frame: a byte that says which parts there are, the length of each in four
 * bytes, then the parts. Frames lie in pieces; within one an origin that several spans in a row share is written once.
 */
export class PayloadWriter {
  readonly #to: TextScratch;
  #pieceStart = -1;
  #origin: Uint8Array | null = null;

  constructor(to: TextScratch) {
    this.#to = to;
  }

  /** The next frame begins a piece. */
  beginPiece(): void {
    this.#pieceStart = -1;
  }

  /**
   * @param pieceBytes a piece ends with the frame that reaches this length
   * @param longBytes a piece ends before a frame with which it may be longer, so that small payloads are not in long pieces
   */
  write(payload: GivenPayload, pieceBytes: number, longBytes = Infinity): void {
    const to = this.#to;
    const start = to.length;
    const length = start - this.#pieceStart;
    const begins =
      this.#pieceStart < 0 ||
      length >= pieceBytes ||
      (length > 0 && length + UNIT_BYTES * lengthOf(payload) > longBytes);
    if (begins) {
      this.#pieceStart = start;
      this.#origin = null;
    }
    const { input, output, metadata, sent, origin } = payload;
    const isSame = origin !== null && origin === this.#origin;
    if (sent !== null) this.#origin = origin;
    const own = isSame ? null : origin;
    let flags = begins ? BEGINS_PIECE : 0;
    if (isSame) flags |= SAME_ORIGIN;
    if (input !== null) flags |= PARTS.input;
    if (output !== null) flags |= PARTS.output;
    if (metadata !== null) flags |= PARTS.metadata;
    if (sent !== null) flags |= PARTS.sent;
    if (own !== null) flags |= PARTS.origin;
    to.appendByte(flags);
    this.#part(input);
    this.#part(output);
    this.#part(metadata);
    this.#part(sent);
    this.#part(own);
  }

  #part(part: string | Uint8Array | null): void {
    if (part === null) return;
    const to = this.#to;
    const at = to.length;
    to.appendUint32(0);
    if (typeof part === 'string') to.append(part);
    else to.appendBytes(part);
    to.setUint32(at, to.length - at - LENGTH_BYTES);
  }
}

/** Whether a piece begins with the frame that begins with this byte. */
export function beginsPiece(first: number): boolean {
  return (first & BEGINS_PIECE) !== 0;
}

/** The payloads of a piece, in order. They are views of its bytes. @throws RangeError for bytes that are no frames */
export function payloadsOf(piece: Uint8Array): Payload[] {
  const payloads: Payload[] = [];
  const view = new DataView(piece.buffer, piece.byteOffset, piece.byteLength);
  let at = 0;
  let before: Uint8Array | null = null;
  const part = (flags: number, which: number): Uint8Array | null => {
    if ((flags & which) === 0) return null;
    const start = at + LENGTH_BYTES;
    at = start + view.getUint32(at, true);
    if (at > piece.length) throw new RangeError('A payload is longer than its piece.');
    return piece.subarray(start, at);
  };
  while (at < piece.length) {
    const flags = view.getUint8(at++);
    const input = part(flags, PARTS.input);
    const output = part(flags, PARTS.output);
    const metadata = part(flags, PARTS.metadata);
    const sent = part(flags, PARTS.sent);
    const own = part(flags, PARTS.origin);
    const origin: Uint8Array | null = (flags & SAME_ORIGIN) !== 0 ? before : own;
    if (sent !== null) before = origin;
    payloads.push({ input, output, metadata, sent, origin });
  }
  return payloads;
}

/** With bytes of its own. */
export function copyOf({ input, output, metadata, sent, origin }: Payload): Payload {
  return {
    input: input?.slice() ?? null,
    output: output?.slice() ?? null,
    metadata: metadata?.slice() ?? null,
    sent: sent?.slice() ?? null,
    origin: origin?.slice() ?? null,
  };
}

/** The length of all parts: about the bytes that a stored payload takes. */
export function lengthOf({ input, output, metadata, sent, origin }: GivenPayload): number {
  return [input, output, metadata, sent, origin].reduce<number>((sum, part) => sum + (part?.length ?? 0), 0);
}

/**
 * The payload of a completed span: what the stored one lacks is taken from the later one. What was sent and `metadata` are one.
 *
 * @returns `stored` itself if nothing changes
 */
export function completedPayload(stored: Payload, later: Payload): Payload {
  const keepsInput = stored.input !== null || later.input === null;
  const keepsOutput = stored.output !== null || later.output === null;
  const hasMetadata = stored.metadata !== null || stored.sent !== null;
  const keepsMetadata = hasMetadata || (later.metadata === null && later.sent === null);
  if (keepsInput && keepsOutput && keepsMetadata) return stored;
  const { metadata, sent, origin } = keepsMetadata ? stored : later;
  return {
    input: keepsInput ? stored.input : later.input,
    output: keepsOutput ? stored.output : later.output,
    metadata,
    sent,
    origin,
  };
}
