import protobuf from 'protobufjs/minimal.js';
import { ShortTexts } from './short-texts.js';

/** Short texts that were read before: keys of attributes, names of models. */
const texts = new ShortTexts();

/** Replaces invalid UTF-8 with replacement characters. */
export class LenientReader extends protobuf.BufferReader {
  override stringVerify(): string {
    const start = this.pos;
    const length = this.uint32();
    const end = this.pos + length;
    // An invalid length is left to the code below, which reports it.
    const known = end > this.len ? undefined : texts.find(this.buf, this.pos, end);
    if (known !== undefined) {
      this.pos = end;
      return known;
    }
    this.pos = start;
    try {
      const text = super.stringVerify();
      texts.put(text);
      return text;
    } catch (error) {
      // Thrown for text that is not UTF-8; an invalid length throws a RangeError.
      if (!(error instanceof TypeError)) throw error;
      this.pos = start;
      return this.string();
    }
  }
}
