import { wordAt } from '../../../signal/checked.js';
import { BLOCK_WORDS, BLOCKS_PER_PAGE, CONTENT_WORDS, PAGE_WORDS, sealPage } from './run-pages.js';

/**
 * The filter of a file of ids: a split block Bloom filter as in Apache Parquet (BloomFilter.md of parquet-format), with 12 bits
 * an id: it lets about one in 150 absent ids through. Other than in Parquet, an id's block follows from the first bits of its
 * hash, by which the file is sorted: so the blocks are finished one after the other while a file is written.
 */
const BITS_PER_ENTRY = 12;
const WORD = 0x1_0000_0000;
// prettier-ignore
const SALTS = Uint32Array.of(
  0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
);

/** The number of blocks for this many entries. */
export function filterBlocks(entries: number): number {
  return Math.max(1, Math.ceil((entries * BITS_PER_ENTRY) / (BLOCK_WORDS * 32)));
}

/** The block of an id, given the first word of its hash. */
export function blockOf(first: number, blocks: number): number {
  return Math.floor((first / WORD) * blocks);
}

/** The position of a block's first word in the pages of a filter. */
export function blockAt(block: number): number {
  return Math.floor(block / BLOCKS_PER_PAGE) * PAGE_WORDS + (block % BLOCKS_PER_PAGE) * BLOCK_WORDS;
}

/** Whether the block whose first word is at a place may have an id, given the second word of its hash. */
export function blockMayHave(words: Uint32Array, at: number, second: number): boolean {
  for (let i = 0; i < BLOCK_WORDS; i++) {
    if ((wordAt(words, at + i) & maskOf(second, i)) === 0) return false;
  }
  return true;
}

function maskOf(second: number, word: number): number {
  return 1 << (Math.imul(second, wordAt(SALTS, word)) >>> 27);
}

/** Makes a filter page by page, from ids in the order of their hashes. */
export class FilterPages {
  readonly #blocks: number;
  readonly #write: (page: Uint32Array) => void;
  #page = new Uint32Array(PAGE_WORDS);
  #number = 0;

  /** @param write takes each page, in order, when it will not change any more */
  constructor(blocks: number, write: (page: Uint32Array) => void) {
    this.#blocks = blocks;
    this.#write = write;
  }

  add(first: number, second: number): void {
    const block = blockOf(first, this.#blocks);
    const number = Math.floor(block / BLOCKS_PER_PAGE);
    while (this.#number < number) this.#turn();
    const at = (block % BLOCKS_PER_PAGE) * BLOCK_WORDS;
    for (let i = 0; i < BLOCK_WORDS; i++) {
      this.#page[at + i] = wordAt(this.#page, at + i) | maskOf(second, i);
    }
  }

  end(): void {
    const pages = Math.ceil(this.#blocks / BLOCKS_PER_PAGE);
    while (this.#number < pages) this.#turn();
  }

  #turn(): void {
    sealPage(this.#page, 0, CONTENT_WORDS, this.#number);
    this.#write(this.#page);
    this.#page = new Uint32Array(PAGE_WORDS);
    this.#number++;
  }
}
