import { crc32 } from 'node:zlib';
import { wordAt } from '../../../signal/checked.js';

/** A file of ids consists of pages; the last word of each is the checksum of the other words. */
export const PAGE_BYTES = 4096;
export const PAGE_WORDS = PAGE_BYTES / 4;
const SUM_AT = PAGE_WORDS - 1;
/** The page's number within the file: a page that was written to another place is as bad as a torn one. */
const NUMBER_AT = PAGE_WORDS - 2;
/** How many words of a page its content may take. */
export const CONTENT_WORDS = PAGE_WORDS - 4;
/** How many of these are in use. */
const USED_AT = PAGE_WORDS - 3;

/** What the last page of a file of ids says. */
export interface RunFacts {
  /** It has the ids of the commits after this one … */
  readonly after: number;
  /** … up to this one. */
  readonly upTo: number;
  readonly entries: number;
  readonly dataPages: number;
  readonly filterBlocks: number;
  /** The key with which its ids are hashed. */
  readonly hashKey: Uint32Array;
  /** The store to which it belongs. */
  readonly store: number;
}

/** The positions of the parts of the file, in pages: the filter, then the entries, the first words of their pages, and the facts. */
export interface RunPlaces {
  readonly dataAt: number;
  readonly fencesAt: number;
  readonly factsAt: number;
}

export const BLOCK_WORDS = 8;
export const BLOCKS_PER_PAGE = Math.floor(CONTENT_WORDS / BLOCK_WORDS);

export function placesOf({
  dataPages,
  filterBlocks,
}: Pick<RunFacts, 'dataPages' | 'filterBlocks'>): RunPlaces {
  const dataAt = Math.ceil(filterBlocks / BLOCKS_PER_PAGE);
  const fencesAt = dataAt + dataPages;
  return { dataAt, fencesAt, factsAt: fencesAt + Math.ceil(dataPages / CONTENT_WORDS) };
}

/**
 * Finishes a page.
 *
 * @param at its first word within `words`
 * @param number of the page within its file
 */
export function sealPage(words: Uint32Array, at: number, used: number, number: number): void {
  words[at + USED_AT] = used;
  words[at + NUMBER_AT] = number;
  words[at + SUM_AT] = sumOf(words, at);
}

/** How many words of a page are in use; null for a page that is not as it was written. */
export function usedOf(words: Uint32Array, at: number, number: number): number | null {
  const isSound = words[at + SUM_AT] === sumOf(words, at) && words[at + NUMBER_AT] === number;
  return isSound ? wordAt(words, at + USED_AT) : null;
}

function sumOf(words: Uint32Array, at: number): number {
  return crc32(new Uint8Array(words.buffer, words.byteOffset + at * 4, PAGE_BYTES - 4));
}

/** Identifies a file of ids, and its format. */
const MAGIC = 0x4a64_4931;
const WORD = 0x1_0000_0000;

export function factsPage(facts: RunFacts): Uint32Array {
  const page = new Uint32Array(PAGE_WORDS);
  const numbers = [facts.after, facts.upTo, facts.entries, facts.dataPages, facts.filterBlocks, facts.store];
  page[0] = MAGIC;
  page.set(facts.hashKey, 1);
  numbers.forEach((number, i) => {
    page[3 + i * 2] = number % WORD;
    page[4 + i * 2] = Math.floor(number / WORD);
  });
  sealPage(page, 0, 3 + numbers.length * 2, placesOf(facts).factsAt);
  return page;
}

/** Null for a page that is not a sound last page. */
export function factsOf(page: Uint32Array, number: number): RunFacts | null {
  if (usedOf(page, 0, number) === null || page[0] !== MAGIC) return null;
  const numberOf = (i: number): number => wordAt(page, 3 + i * 2) + wordAt(page, 4 + i * 2) * WORD;
  const facts = {
    hashKey: page.slice(1, 3),
    after: numberOf(0),
    upTo: numberOf(1),
    entries: numberOf(2),
    dataPages: numberOf(3),
    filterBlocks: numberOf(4),
    store: numberOf(5),
  };
  return placesOf(facts).factsAt === number ? facts : null;
}
