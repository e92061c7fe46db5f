import { randomBytes } from 'node:crypto';

/**
 * A compact set of (tenant, UUID) pairs with a number for each: the store's memory of every trace id that it holds, at
 * about 17 bytes an id.
 *
 * Only a 32-bit fingerprint of each id is kept, so `mayHave` can be wrong about once in a thousand million look-ups:
 * a hit is a reason to look into the tables, a miss is certain. Grows by adding tables of double size, so that nothing
 * is ever rehashed and nobody waits for it.
 */
export class Fingerprints {
  readonly #tables: Table[] = [];
  readonly #firstBits: number;
  readonly #seed: number;
  #home = 0;
  #print = 0;

  /** @param firstBits the first table has 2 to this power slots */
  constructor(options: { readonly firstBits?: number; readonly seed?: number } = {}) {
    this.#firstBits = options.firstBits ?? 16;
    // Ids come from outside: without a secret seed somebody could choose ones that all fall into one place.
    this.#seed = options.seed ?? randomBytes(4).readUInt32LE();
  }

  /** Ids held. */
  get size(): number {
    return this.#tables.reduce((sum, table) => sum + table.used, 0);
  }

  /** Bytes of memory taken. */
  get bytes(): number {
    return this.#tables.reduce((sum, table) => sum + table.prints.byteLength + table.numbers.byteLength, 0);
  }

  mayHave(tenant: number, words: Uint32Array, offset: number): boolean {
    this.#hash(tenant, words, offset);
    return this.#tables.some((table) => this.#find(table, () => true));
  }

  /** Adds an id even where its fingerprint is here already. */
  add(tenant: number, words: Uint32Array, offset: number, number: number): void {
    this.#hash(tenant, words, offset);
    this.#insert(number);
  }

  /** The numbers under this id's fingerprint: the id's own, if it is here, and very rarely another's. */
  numbers(tenant: number, words: Uint32Array, offset: number): number[] {
    this.#hash(tenant, words, offset);
    const found: number[] = [];
    for (const table of this.#tables) {
      this.#find(table, (slot) => {
        found.push(table.numbers[slot] ?? 0);
        return false;
      });
    }
    return found;
  }

  /** Gives an id that has the number `from` the number `to`; adds it where there is none such. */
  replace(tenant: number, words: Uint32Array, offset: number, from: number, to: number): void {
    this.#hash(tenant, words, offset);
    const done = this.#tables.some((table) =>
      this.#find(table, (slot) => {
        if (table.numbers[slot] !== from) return false;
        table.numbers[slot] = to;
        return true;
      }),
    );
    if (!done) this.#insert(to);
  }

  /** Walks the slots with this fingerprint until `isWanted` says yes. */
  #find(table: Table, isWanted: (slot: number) => boolean): boolean {
    const { prints, mask } = table;
    for (let slot = this.#home & mask; prints[slot] !== 0; slot = (slot + 1) & mask) {
      if (prints[slot] === this.#print && isWanted(slot)) return true;
    }
    return false;
  }

  #insert(number: number): void {
    let table = this.#tables.at(-1);
    if (table === undefined || table.used >= table.limit) table = this.#grow();
    const { prints, mask } = table;
    let slot = this.#home & mask;
    while (prints[slot] !== 0) slot = (slot + 1) & mask;
    prints[slot] = this.#print;
    table.numbers[slot] = number;
    table.used++;
  }

  #grow(): Table {
    const slots = 2 ** Math.min(this.#firstBits + this.#tables.length, MOST_BITS);
    const table = {
      prints: new Uint32Array(slots),
      numbers: new Float64Array(slots),
      mask: slots - 1,
      used: 0,
      limit: Math.floor(slots * FULL),
    };
    this.#tables.push(table);
    return table;
  }

  /** Two independent 32-bit hashes (MurmurHash3's mixing): the home slot, and the fingerprint, which is never 0. */
  #hash(tenant: number, words: Uint32Array, offset: number): void {
    let a = this.#seed ^ Math.imul(tenant, 0x9e3779b1);
    let b = Math.imul(this.#seed, 0x85ebca6b) ^ tenant;
    for (let i = 0; i < 4; i++) {
      const word = words[offset + i] ?? 0;
      let k = Math.imul(word, 0xcc9e2d51);
      k = (k << 15) | (k >>> 17);
      a ^= Math.imul(k, 0x1b873593);
      a = (a << 13) | (a >>> 19);
      a = Math.imul(a, 5) + 0xe6546b64;
      k = Math.imul(word, 0x239b961b);
      k = (k << 16) | (k >>> 16);
      b ^= Math.imul(k, 0xab0e9789);
      b = (b << 17) | (b >>> 15);
      b = Math.imul(b, 5) + 0x561ccd1b;
    }
    this.#home = mix(a) >>> 0;
    this.#print = mix(b) >>> 0 || 1;
  }
}

interface Table {
  readonly prints: Uint32Array;
  readonly numbers: Float64Array;
  readonly mask: number;
  readonly limit: number;
  used: number;
}

const FULL = 0.7;
/** 64 million ids a table: from there on tables of one size are added. */
const MOST_BITS = 26;

function mix(hash: number): number {
  let h = hash ^ (hash >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return h ^ (h >>> 16);
}
