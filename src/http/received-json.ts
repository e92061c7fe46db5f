import { isAscii, isUtf8 } from 'node:buffer';
import { HttpProblem, type HttpRequest } from '../component/http.js';
import { wholeBuffer } from '../worker/whole-buffer.js';
import { asciiJson } from './ascii-json.js';
import { findExcess, StructureScan, type StructureLimits } from './json-structure.js';

const BYTE_ORDER_MARK = '\uFEFF';
/** At least an opening and a closing byte. */
const BYTES_OF_NODE = 2;

/** Rules for receiving and parsing a body. */
export interface JsonRules {
  readonly limits: StructureLimits;
  /** Creates the error for too much structure. Absent: 422 `validation_failed`. */
  readonly problemOf?: (excess: string) => HttpProblem;
}

/** A body for another thread; its buffer can be transferred. */
export interface PackedJson {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly measured: number;
}

type Parse = (text: string, bytes: Uint8Array) => unknown;

/**
 * A received body before parsing. Its bytes are private: {@link parse} is the only way to its values, and it measures their
 * structure unless that was done during arrival. So each body is measured exactly once.
 */
export class ReceivedJson {
  readonly #bytes: Uint8Array;
  readonly #rules: JsonRules;
  /** Number of bytes that were measured during arrival. */
  readonly #measured: number;

  private constructor(bytes: Uint8Array, rules: JsonRules, measured = 0) {
    this.#bytes = bytes;
    this.#rules = rules;
    this.#measured = measured;
  }

  /** A complete body whose structure was not measured yet. */
  static whole(bytes: Uint8Array, rules: JsonRules): ReceivedJson {
    return new ReceivedJson(bytes, rules);
  }

  /**
   * Receives a body. The structure of a large body is measured while it arrives, so that a bomb is refused at its first part.
   *
   * @throws HttpProblem any error of `request.body`; the one created by `problemOf`
   */
  static async receive(request: HttpRequest, rules: JsonRules): Promise<ReceivedJson> {
    const { limits } = rules;
    const length = Number(request.header('content-length') ?? Infinity);
    if (length / BYTES_OF_NODE <= Math.min(limits.nodes, limits.values ?? Infinity))
      return new ReceivedJson(await request.body(), rules);
    const scan = new StructureScan(limits);
    const bytes = await request.body((piece) => {
      const excess = scan.push(piece);
      return excess === undefined ? undefined : problemFor(excess, rules);
    });
    return new ReceivedJson(bytes, rules, scan.measured);
  }

  /** Unpacks a body that another thread has received. */
  static unpack({ bytes, measured }: PackedJson, rules: JsonRules): ReceivedJson {
    return new ReceivedJson(bytes, rules, measured);
  }

  /** Packs it for another thread, without its rules. It must not be used here afterwards. */
  pack(): PackedJson {
    return { bytes: wholeBuffer(this.#bytes), measured: this.#measured };
  }

  get byteLength(): number {
    return this.#bytes.byteLength;
  }

  /** Whether an ASCII pattern occurs anywhere in the text. */
  holds(pattern: RegExp): boolean {
    return pattern.test(bufferOf(this.#bytes).toString('latin1'));
  }

  /**
   * Parses the body.
   *
   * @param options.prepare converts the bytes before decoding; must keep their structure
   * @param options.parse converts the text, and the bytes that it was decoded from, to values: `JSON.parse` or the exact
   *   `parseJson`
   * @throws HttpProblem 400 `invalid_encoding` for bytes that are not UTF-8; 400 `invalid_json`; the error of `problemOf`
   */
  parse({
    prepare,
    parse = (text) => JSON.parse(text) as unknown,
  }: {
    readonly prepare?: (bytes: Uint8Array) => Uint8Array;
    readonly parse?: Parse;
  } = {}): unknown {
    const buffer = bufferOf(this.#bytes);
    // Preparation changes the text.
    const ascii = prepare === undefined ? asciiOf(buffer) : undefined;
    // A compressed body was not measured while it arrived.
    if (this.#measured !== buffer.length) {
      const excess = findExcess(buffer, this.#rules.limits, ascii?.text);
      if (excess !== undefined) throw problemFor(excess, this.#rules);
    }
    if (prepare === undefined) return parseMeasured(buffer, ascii, parse);
    const prepared = bufferOf(prepare(buffer));
    return parseMeasured(prepared, asciiOf(prepared), parse);
  }
}

/** @param excess from `findExcess` */
function problemFor(excess: string, { problemOf = excessProblem }: JsonRules): HttpProblem {
  return problemOf(excess);
}

/** 422 `validation_failed` for a body with too much structure. */
function excessProblem(excess: string): HttpProblem {
  return new HttpProblem(422, 'validation_failed', `The body ${excess}.`, {
    errors: [{ field: '', message: excess }],
  });
}

/** A text with the meaning and structure of the bytes, one byte for each character. */
interface AsciiText {
  readonly text: string;
  /** Whether other characters are written as escapes. */
  readonly isEscaped: boolean;
}

/** @returns undefined if the conversion would not be cheap */
function asciiOf(bytes: Buffer): AsciiText | undefined {
  if (isAscii(bytes)) return { text: bytes.toString('latin1'), isEscaped: false };
  const text = isUtf8(bytes) ? asciiJson(bytes) : undefined;
  return text === undefined ? undefined : { text, isEscaped: true };
}

/** @param ascii the same content as text */
function parseMeasured(bytes: Buffer, ascii: AsciiText | undefined, parse: Parse): unknown {
  if (ascii?.isEscaped === false) return parseText(ascii.text, bytes, parse);
  if (ascii === undefined && !isUtf8(bytes))
    throw new HttpProblem(400, 'invalid_encoding', 'The body is not UTF-8.');
  if (ascii !== undefined) {
    try {
      return parse(ascii.text, bytes);
    } catch {
      // The message would contain positions in the escaped text.
    }
  }
  return parseText(withoutMark(bytes.toString('utf8')), bytes, parse);
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

/** @throws HttpProblem 400 `invalid_json` */
function parseText(text: string, bytes: Uint8Array, parse: Parse): unknown {
  try {
    return parse(text, bytes);
  } catch (cause) {
    const detail =
      text.trim() === ''
        ? 'The body is empty; send a JSON object.'
        : `The body is not valid JSON: ${whereOf(cause)}.`;
    throw new HttpProblem(400, 'invalid_json', detail, { cause });
  }
}

/** The engine's description of the error: its position, or the text around it. */
function whereOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : 'it cannot be read';
  return message.replace(/ is not valid JSON$/, '').replace(/ in JSON at position/, ' at position');
}
