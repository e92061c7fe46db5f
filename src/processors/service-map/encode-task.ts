import { NO_PARENT, parentPositions } from '../../signal/parent-positions.js';
import { AGENT, nodeSource } from '../../signal/service-node.js';
import { hourOf, TYPE_CODES } from '../../signal/trace-map.js';
import type { TraceRecord } from '../../signal/trace.js';
import { ColumnsWriter } from '../../worker/columns-writer.js';
import { TextScratch } from '../../worker/text-scratch.js';
import { HEADER, HEADER_COLUMNS, SOURCE, SPAN, SPAN_COLUMNS, TEXT_COLUMNS, type MapTask } from './task.js';

/** Lays batches out for the thread. Beside the ids there is only what their nodes follow from. */
export class TaskEncoder {
  readonly #text = new TextScratch();
  readonly #noText = new TextScratch(0);

  encode(batches: readonly (readonly TraceRecord[])[]): MapTask {
    const items = batches.flat();
    const headers = new ColumnsWriter(HEADER_COLUMNS, items.length, this.#noText);
    const spans = new ColumnsWriter(
      SPAN_COLUMNS,
      items.reduce((sum, item) => sum + item.spans.length, 0),
      this.#noText,
    );
    const texts: string[] = [];
    let row = 0;
    items.forEach((item, i) => {
      headers.int32(HEADER.hour, i, hourOf(item.trace.started_at));
      headers.uint32(HEADER.spans, i, item.spans.length);
      texts.push(item.trace.agent);
      const parents = parentPositions(item.spans);
      let position = 0;
      for (const span of item.spans) {
        spans.int32(SPAN.parent, row, parents[position++] ?? NO_PARENT);
        spans.byte(SPAN.type, row, TYPE_CODES[span.type]);
        const source = nodeSource(span);
        if (source === AGENT) spans.byte(SPAN.source, row, SOURCE.agent);
        else if (typeof source === 'string') {
          spans.byte(SPAN.source, row, SOURCE.name);
          texts.push(source);
        } else if (source !== null) {
          spans.byte(SPAN.source, row, SOURCE.name + source.urls.length);
          texts.push(...source.urls, source.name);
        }
        row++;
      }
    });
    return {
      traces: batches.map((batch) => batch.length),
      headers: headers.finish(),
      spans: spans.finish(),
      texts: this.#textColumn(texts),
    };
  }

  #textColumn(texts: readonly string[]) {
    const writer = new ColumnsWriter(TEXT_COLUMNS, texts.length, this.#text);
    for (let i = 0; i < texts.length; i++) writer.text(0, i, texts[i] ?? '');
    return writer.finish();
  }
}

export function buffersOf({ headers, spans, texts }: MapTask): ArrayBuffer[] {
  return [headers.fixed, spans.fixed, texts.fixed, texts.text];
}
