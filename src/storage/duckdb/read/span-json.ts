import { summaryJson, shownJson } from '../../shared/serialize-span.js';
import { spanHeadOfRow } from '../../shared/summaries-of-rows.js';
import type { SpanCursor, SpanRows } from './trace.js';

/** Characters of the input in a summary. */
const PREVIEW_CHARACTERS = 200;
/** Maximum UTF-8 bytes per UTF-16 code unit. */
const MOST_BYTES_A_UNIT = 3;

/** Spans as the API shows them. */
export interface SpanPage {
  /** JSON with commas between the spans. */
  readonly json: Uint8Array<ArrayBuffer>;
  readonly next: SpanCursor | null;
}

/** A page of a trace's spans for the API, without events from log records. Payloads are passed through as stored. */
export function spanPage(traceId: string, { spans, next }: SpanRows): SpanPage {
  const texts = spans.map(({ row, payload: { input, output } }) =>
    shownJson(spanHeadOfRow(traceId, row), jsonOf(input), jsonOf(output)),
  );
  return { json: new TextEncoder().encode(texts.join(',')), next };
}

/**
 * A page of spans without payloads: their sizes, the beginning of the input, and the node of the service map.
 *
 * @param nodeOf the name of a node by its number
 */
export function summaryPage(
  traceId: string,
  { spans, next }: SpanRows,
  nodeOf: (nodeNo: number) => string | null,
): SpanPage {
  const texts = spans.map(({ row, payload: { input, output } }) =>
    summaryJson({
      node: nodeOf(Number(row.node_no)),
      input_bytes: input?.length ?? null,
      output_bytes: output?.length ?? null,
      preview: input === null ? null : beginning(input),
      ...spanHeadOfRow(traceId, row),
    }),
  );
  return { json: new TextEncoder().encode(texts.join(',')), next };
}

function jsonOf(part: Uint8Array | null): string {
  return part === null ? 'null' : Buffer.from(part.buffer, part.byteOffset, part.length).toString('utf8');
}

/** The first characters of a UTF-8 text, without splitting one. */
function beginning(text: Uint8Array): string {
  const bytes = text.subarray(0, PREVIEW_CHARACTERS * MOST_BYTES_A_UNIT + MOST_BYTES_A_UNIT);
  const some = jsonOf(bytes).slice(0, PREVIEW_CHARACTERS);
  return /[\uD800-\uDBFF]$/.test(some) ? some.slice(0, -1) : some;
}
