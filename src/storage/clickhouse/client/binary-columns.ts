import { byteAt, wordAt } from '../../../signal/checked.js';
import { partAt, placesOf, WIDTHS, type Column, type Place } from '../../../worker/columns.js';
import type { ColumnsReader } from '../../../worker/columns-reader.js';
import type { BinaryChunks } from './binary-chunks.js';

/**
 * Copies rows of columns into `RowBinary` without decoding values. Decoding the 25 values of a span and writing them takes twice as long.
 */
export class BinaryColumns {
  readonly #columns: readonly Column[];
  readonly #places: readonly Place[];
  readonly #bytes: Uint8Array;
  readonly #words: Uint32Array;
  readonly #text: Buffer;

  /** @param columns a prefix of the columns read; ClickHouse's columns have their types (`columnsOfKinds`) */
  constructor(columns: readonly Column[], of: ColumnsReader) {
    this.#columns = columns;
    this.#places = placesOf(columns, of.rows).places;
    this.#bytes = new Uint8Array(of.fixed);
    this.#words = new Uint32Array(of.fixed);
    this.#text = of.text;
  }

  /** The name of the first column. */
  get first(): string {
    return partAt(this.#columns, 0).name;
  }

  /** How many values a row has. */
  get width(): number {
    return this.#columns.length;
  }

  /** Writes the values of a row. */
  append(to: BinaryChunks, row: number): void {
    for (let at = 0; at < this.#columns.length; at++) {
      const { data, nulls } = partAt(this.#places, at);
      if (nulls >= 0) {
        const isNull = byteAt(this.#bytes, nulls + row);
        to.byte(isNull);
        if (isNull === 1) continue;
      }
      const { kind } = partAt(this.#columns, at);
      const start = data + row * WIDTHS[kind];
      switch (kind) {
        case 'uuid':
          to.uuid(this.#words, start / 4);
          break;
        case 'int64':
        case 'float64':
          to.int32(wordAt(this.#words, start / 4));
          to.int32(wordAt(this.#words, start / 4 + 1));
          break;
        case 'int32':
        case 'uint32':
          to.int32(wordAt(this.#words, start / 4));
          break;
        case 'uint8':
        case 'bool':
          to.byte(byteAt(this.#bytes, start));
          break;
        case 'text':
          to.slice(this.#text, wordAt(this.#words, start / 4), wordAt(this.#words, start / 4 + 1));
      }
    }
  }
}
