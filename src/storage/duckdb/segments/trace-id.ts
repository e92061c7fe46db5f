import { formatUuid, parseUuid } from '../../../worker/uuid-words.js';

/** A trace id from outside, as words and as the canonical text of these words: lower case, and safe in a query. */
export class TraceId {
  readonly words = new Uint32Array(4);
  readonly text: string;

  constructor(text: string) {
    parseUuid(text, this.words, 0);
    this.text = formatUuid(this.words, 0);
  }
}
