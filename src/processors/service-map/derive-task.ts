import { MapBuilder } from '../../signal/map-builder.js';
import { AGENT_NODE, NO_NODE, type DerivedMap } from '../../signal/service-map.js';
import { nodeName } from '../../signal/service-node.js';
import { LENGTHS, URLS, type MapAnswer, type MapTask, type MapTaskBatch } from './task.js';

/** The work of the thread. */
export function deriveTask(task: MapTask): MapAnswer {
  return encodeAnswer(task.map((batch) => new BatchReader(batch).derive()));
}

/** Reads a batch sequentially. */
class BatchReader {
  readonly #traces: number;
  readonly #numbers: Int32Array;
  readonly #texts: readonly string[];
  /** Node names derived from the texts, computed on demand; null if a text gives no name. */
  readonly #names: (string | null | undefined)[];
  #at = 0;

  constructor({ traces, numbers, texts }: MapTaskBatch) {
    this.#traces = traces;
    this.#numbers = numbers;
    this.#texts = texts;
    this.#names = texts.map(() => undefined);
  }

  derive(): DerivedMap {
    const builder = new MapBuilder();
    for (let trace = 0; trace < this.#traces; trace++) {
      const spans = this.#next();
      const [types, nodes, parents]: [number[], number[], number[]] = [[], [], []];
      for (let span = 0; span < spans; span++) {
        parents.push(this.#next());
        types.push(this.#next());
        nodes.push(this.#nextNode(builder));
      }
      builder.trace({ types, nodes, parents });
    }
    return builder.finish();
  }

  #nextNode(builder: MapBuilder): number {
    const source = this.#next();
    if (source === NO_NODE || source === AGENT_NODE) return source;
    const name = source === URLS ? this.#nextUrls() : this.#name(source);
    return name === null ? NO_NODE : builder.number(name);
  }

  #nextUrls(): string | null {
    const urls = Array.from({ length: this.#next() }, () => this.#nextText());
    return nodeName({ urls, name: this.#nextText() });
  }

  #name(text: number): string | null {
    const known = this.#names[text];
    if (known !== undefined) return known;
    const name = nodeName(this.#text(text));
    this.#names[text] = name;
    return name;
  }

  #nextText(): string {
    return this.#text(this.#next());
  }

  /** @throws Error for a position that is not in the batch */
  #text(position: number): string {
    const text = this.#texts[position];
    if (text === undefined) throw new Error('a batch for the service map lacks a text');
    return text;
  }

  /** @throws Error at the end of the data */
  #next(): number {
    const number = this.#numbers[this.#at++];
    if (number === undefined) throw new Error('a batch for the service map ends too soon');
    return number;
  }
}

function encodeAnswer(maps: readonly DerivedMap[]): MapAnswer {
  const parts = maps.flatMap(({ nodes, callers }) => [nodes, callers]);
  let at = maps.length * LENGTHS;
  const numbers = new Int32Array(at + parts.reduce((sum, part) => sum + part.length, 0));
  maps.forEach(({ names, nodes }, i) => {
    numbers.set([names.length, nodes.length], i * LENGTHS);
  });
  for (const part of parts) {
    numbers.set(part, at);
    at += part.length;
  }
  return { numbers, names: maps.flatMap(({ names }) => names) };
}
