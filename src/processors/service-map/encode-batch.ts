import { NO_PARENT, parentPositions } from '../../signal/parent-positions.js';
import { AGENT_NODE, NO_NODE } from '../../signal/service-map.js';
import { AGENT, nodeSource, type NodeSource } from '../../signal/service-node.js';
import { TYPE_CODES } from '../../signal/trace-map.js';
import type { TraceRecord } from '../../signal/trace.js';
import { URLS, type MapTaskBatch } from './task.js';

/** Encodes for the thread the parts of a batch that determine its nodes. */
export function encodeBatch(items: readonly TraceRecord[]): MapTaskBatch {
  const numbers: number[] = [];
  const texts = new Texts();
  for (const { spans } of items) {
    numbers.push(spans.length);
    const parents = parentPositions(spans);
    let position = 0;
    for (const span of spans) {
      numbers.push(parents[position++] ?? NO_PARENT, TYPE_CODES[span.type]);
      pushSource(nodeSource(span), numbers, texts);
    }
  }
  return { traces: items.length, numbers: new Int32Array(numbers), texts: texts.list() };
}

function pushSource(source: NodeSource, numbers: number[], texts: Texts): void {
  if (source === null) numbers.push(NO_NODE);
  else if (source === AGENT) numbers.push(AGENT_NODE);
  else if (typeof source === 'string') numbers.push(texts.number(source));
  else {
    numbers.push(URLS, source.urls.length);
    for (const url of source.urls) numbers.push(texts.number(url));
    numbers.push(texts.number(source.name));
  }
}

/** The texts of a batch, each once. */
class Texts {
  readonly #numbers = new Map<string, number>();

  number(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.#numbers.size;
    this.#numbers.set(text, number);
    return number;
  }

  list(): string[] {
    return [...this.#numbers.keys()];
  }
}
