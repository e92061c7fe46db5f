import { formatUuid, parseUuid } from '../../../worker/uuid-words.js';

/** An id from outside, in words and as the one text that its words have: lower case, and safe in a query. */
export class TraceId {
  readonly words = new Uint32Array(4);
  readonly text: string;

  constructor(text: string) {
    parseUuid(text, this.words, 0);
    this.text = formatUuid(this.words, 0);
  }
}
