import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { payloadsOf } from '../../../runs/rules/payload.js';
import { wordAt } from '../../../signal/checked.js';
import { HEADER_TEXTS } from '../../shared/run-search.js';
import { indexOf, type Assigned, type Table } from '../../schema/table.js';
import { PAYLOADS, SPANS, TEXT_FILTERS, TRACES } from '../../schema/tables.js';
import { EVERYTHING, TermFilter } from '../index/text-filters.js';
import { TermScanner } from '../index/text-terms.js';
import { objectRows, type Rows } from './rows.js';

/** A filter is complete with the commit that reaches this many bytes of texts. */
const FILTER_BYTES = 1024 * 1024;
/** Texts that are cut before other work gets its turn: some 3 ms. */
const UNYIELDED_BYTES = 1024 * 1024;
/** The share of a filter's bytes below which an open filter is not stored when the store closes. */
const SMALLEST = 1 / 16;

const OWN_TEXTS = ['name', 'model', 'error_message'] as const;
/** The columns with searched texts, by table. */
const SEARCHED = new Map<Table, readonly number[]>([
  [SPANS, OWN_TEXTS.map((name) => indexOf(SPANS.wire, name))],
  [TRACES, HEADER_TEXTS.map((name) => indexOf(TRACES.wire, name))],
  [PAYLOADS, ['lines', 'long_lines'].map((name) => indexOf(PAYLOADS.wire, name))],
]);
/** A row of {@link TEXT_FILTERS}, without the commit that writes it. */
type FilterRow = { readonly first_seq: number; readonly last_seq: number } & Readonly<
  Record<`slice_${number}`, Uint8Array>
>;

/** Makes the filters of new commits: `../index/text-filters.ts`. A later commit writes them; if the process ends before, their commits have none. */
export class FilterWriter {
  readonly #filter = new TermFilter();
  readonly #scanner = new TermScanner((hash) => {
    this.#filter.add(hash);
  });
  readonly #blockBytes: number;
  #first: number;
  #bytes = 0;
  /** Whether texts are missing in the open filter. */
  #isMissing = false;
  #complete: FilterRow[] = [];

  /** @param lastSeq the last commit before */
  constructor(lastSeq: number, blockBytes = FILTER_BYTES) {
    this.#first = lastSeq + 1;
    this.#blockBytes = blockBytes;
  }

  /** The complete filters that are not stored yet, as rows of a commit. */
  rows(seq: number): Rows[] {
    return objectRows(
      TEXT_FILTERS,
      this.#complete.map((row) => ({ ...row, seq, tenant: 0 })),
    );
  }

  /** Call after the commit that wrote {@link rows}. */
  stored(): void {
    this.#complete = [];
  }

  /** Adds the texts of a commit. Commits come in order; one that failed is left out. */
  async add(seq: number, written: readonly Rows[]): Promise<void> {
    try {
      for (const rows of written)
        for (const column of SEARCHED.get(rows.table) ?? []) await this.#addColumn(rows, column);
    } catch {
      // The commit is done and answered: its texts are then searched without a filter.
      this.#isMissing = true;
    }
    if (this.#bytes >= this.#blockBytes) this.#complete.push(this.#take(seq));
  }

  /** Completes the open filter, so that it can be stored before the store closes. A small one is not worth a commit. */
  completeOpen(seq: number): void {
    if (this.#bytes >= this.#blockBytes * SMALLEST) this.#complete.push(this.#take(seq));
  }

  async #addColumn({ table, source, from, to, assigned }: Rows, column: number): Promise<void> {
    const places = source.textSpans(column);
    const tenants = assigned['tenant'] as Assigned<number>;
    let unyielded = 0;
    for (let row = from; row < to; row++) {
      const [start, end] = [wordAt(places, row * 2), wordAt(places, row * 2 + 1)];
      if (start === end) continue;
      this.#addText(
        typeof tenants === 'function' ? tenants(row) : tenants,
        table,
        source.text.subarray(start, end),
      );
      unyielded += end - start;
      if (unyielded < UNYIELDED_BYTES) continue;
      await yieldToOthers();
      unyielded = 0;
    }
  }

  #addText(tenant: number, table: Table, bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    if (table !== PAYLOADS) this.#scanner.scan(tenant, bytes, false);
    else
      for (const { input, output } of payloadsOf(bytes)) {
        if (input !== null) this.#scanner.scan(tenant, input, true);
        if (output !== null) this.#scanner.scan(tenant, output, true);
      }
  }

  #take(seq: number): FilterRow {
    const taken = this.#filter.take();
    const slices = this.#scanner.isComplete && !this.#isMissing ? taken : EVERYTHING;
    const row = {
      first_seq: this.#first,
      last_seq: seq,
      ...Object.fromEntries(slices.map((bytes, i) => [`slice_${i}`, bytes])),
    };
    this.#scanner.reset();
    this.#isMissing = false;
    this.#first = seq + 1;
    this.#bytes = 0;
    return row;
  }
}
