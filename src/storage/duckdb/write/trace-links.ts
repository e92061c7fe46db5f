import { uuidKey } from '../../../worker/uuid-words.js';

/** A new link of a commit. The ids are in words, from an offset on. */
export interface NewLink {
  readonly promptNo: number;
  readonly span: { readonly words: Uint32Array; readonly offset: number } | null;
  readonly linkedAt: number;
}

/** Key of the trace as a whole among the keys of spans. */
const WHOLE_TRACE = '';

/** The links of one trace: the stored ones and those of the current commit. */
export class TraceLinks {
  readonly tenant: number;
  /** The trace's id in words, from `offset` on. */
  readonly words: Uint32Array;
  readonly offset: number;
  /** The first and the last commit with links; 0 while none is stored. */
  firstSeq = 0;
  lastSeq = 0;
  added: NewLink[] = [];
  /** For each prompt version, by number, the keys of the linked spans. */
  readonly #spans = new Map<number, Set<string>>();
  /** The prompt versions that did not count the trace before this commit. */
  readonly #newPrompts = new Set<number>();

  constructor(trace: { readonly tenant: number; readonly words: Uint32Array; readonly offset: number }) {
    this.tenant = trace.tenant;
    // A copy, because it outlives the message that holds the words.
    this.words = trace.words.slice(trace.offset, trace.offset + 4);
    this.offset = 0;
  }

  /** The prompt versions of the trace, and whether they are new in this commit. */
  *prompts(): Generator<{ readonly promptNo: number; readonly isNew: boolean }> {
    for (const promptNo of this.#spans.keys()) yield { promptNo, isNew: this.#newPrompts.has(promptNo) };
  }

  /** Adds a stored link. @param span its key; null for the trace as a whole */
  put(promptNo: number, span: string | null, seqs: { readonly first: number; readonly last: number }): void {
    this.firstSeq = seqs.first;
    this.lastSeq = Math.max(this.lastSeq, seqs.last);
    this.#spansOf(promptNo).add(span ?? WHOLE_TRACE);
  }

  /** Adds a link to the commit, unless it already exists. */
  add(promptNo: number, span: NewLink['span'], linkedAt: number): void {
    const isNew = !this.#spans.has(promptNo);
    const spans = this.#spansOf(promptNo);
    const key = span === null ? WHOLE_TRACE : uuidKey(span.words, span.offset);
    if (spans.has(key)) return;
    spans.add(key);
    if (isNew) this.#newPrompts.add(promptNo);
    this.added.push({ promptNo, span, linkedAt });
  }

  /** After the commit. */
  committed(seq: number): void {
    this.#newPrompts.clear();
    if (this.added.length === 0) return;
    this.added = [];
    if (this.firstSeq === 0) this.firstSeq = seq;
    this.lastSeq = seq;
  }

  #spansOf(promptNo: number): Set<string> {
    const known = this.#spans.get(promptNo);
    if (known !== undefined) return known;
    const made = new Set<string>();
    this.#spans.set(promptNo, made);
    return made;
  }
}
