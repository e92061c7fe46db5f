import { MapBuilder } from '../../signal/map-builder.js';
import { AGENT_NODE, NO_NODE, type BatchMap } from '../../signal/service-map.js';
import { nodeName, type NodeTexts } from '../../signal/service-node.js';
import { ColumnsReader } from '../../worker/columns-reader.js';
import { ColumnsWriter } from '../../worker/columns-writer.js';
import { TextScratch } from '../../worker/text-scratch.js';
import {
  HEADER,
  HEADER_COLUMNS,
  LENGTHS,
  SOURCE,
  SPAN,
  SPAN_COLUMNS,
  TEXT_COLUMNS,
  type MapAnswer,
  type MapTask,
} from './task.js';

type Derived = Omit<BatchMap, 'spanIds'>;

/** What the thread does. */
export function deriveTask(task: MapTask): MapAnswer {
  const reader = new TaskReader(task);
  return encodeAnswer(task.traces.map((traces) => reader.derive(traces)));
}

/** Reads a task from its start to its end. */
class TaskReader {
  readonly #hours: Uint32Array;
  readonly #counts: Uint32Array;
  readonly #parents: Int32Array;
  readonly #types: Uint8Array;
  readonly #sources: Uint8Array;
  readonly #texts: ColumnsReader;
  #trace = 0;
  #span = 0;
  #text = 0;

  constructor({ headers, spans, texts }: MapTask) {
    const header = new ColumnsReader(HEADER_COLUMNS, headers);
    this.#hours = header.uint32s(HEADER.hour);
    this.#counts = header.uint32s(HEADER.spans);
    const span = new ColumnsReader(SPAN_COLUMNS, spans);
    this.#parents = new Int32Array(spans.fixed, span.place(SPAN.parent).data, spans.rows);
    this.#types = new Uint8Array(spans.fixed, span.place(SPAN.type).data, spans.rows);
    this.#sources = new Uint8Array(spans.fixed, span.place(SPAN.source).data, spans.rows);
    this.#texts = new ColumnsReader(TEXT_COLUMNS, texts);
  }

  /** The map of the next batch. */
  derive(traces: number): Derived {
    const builder = new MapBuilder();
    for (const end = this.#trace + traces; this.#trace < end; this.#trace++) {
      const agent = builder.number(this.#nextText());
      const hour = (this.#hours[this.#trace] ?? 0) | 0;
      const first = this.#span;
      const next = first + (this.#counts[this.#trace] ?? 0);
      const nodes: number[] = [];
      for (let row = first; row < next; row++) nodes.push(this.#nextNode(this.#sources[row] ?? 0, builder));
      this.#span = next;
      builder.trace(agent, hour, {
        types: this.#types.subarray(first, next),
        nodes,
        parents: this.#parents.subarray(first, next),
      });
    }
    return builder.finish();
  }

  #nextNode(source: number, builder: MapBuilder): number {
    if (source === SOURCE.none) return NO_NODE;
    if (source === SOURCE.agent) return AGENT_NODE;
    const name = nodeName(this.#nextTexts(source - SOURCE.name));
    return name === null ? NO_NODE : builder.number(name);
  }

  #nextTexts(count: number): NodeTexts {
    if (count === 0) return this.#nextText();
    const urls = Array.from({ length: count }, () => this.#nextText());
    return { urls, name: this.#nextText() };
  }

  #nextText(): string {
    const row = this.#text++;
    return this.#texts.text.toString('utf8', this.#texts.textStart(0, row), this.#texts.textEnd(0, row));
  }
}

function encodeAnswer(maps: readonly Derived[]): MapAnswer {
  const names = new ColumnsWriter(
    TEXT_COLUMNS,
    maps.reduce((sum, map) => sum + map.names.length, 0),
    new TextScratch(),
  );
  const numbers: number[] = [];
  let row = 0;
  for (const map of maps) {
    numbers.push(map.names.length, map.nodes.length, map.nodeSums.length, map.edgeSums.length);
    for (const name of map.names) names.text(0, row++, name);
  }
  const parts = maps.flatMap(({ nodes, nodeSums, edgeSums }) => [nodes, nodeSums, edgeSums]);
  const all = new Int32Array(maps.length * LENGTHS + parts.reduce((sum, part) => sum + part.length, 0));
  all.set(numbers);
  let at = numbers.length;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return { numbers: all, names: names.finish() };
}
