import { itemAt } from '../../../signal/checked.js';
import { moneyToNumber } from '../../../signal/money.js';
import type { Payload } from '../../../runs/rules/payload.js';
import { RUN_STATUSES, SPAN_TYPES } from '../../../signal/span.js';
import { formatTime } from '../../../signal/time.js';
import { toldFields } from '../../print-run.js';
import type { Row } from '../files/connection.js';
import type { SpanCursor, SpanRows } from './trace.js';

/** Characters of the input that an outline shows. */
const PREVIEW_CHARACTERS = 200;
/** No character of a text takes more bytes for each of its UTF-16 units. */
const MOST_BYTES_A_UNIT = 3;

/** Spans as the API shows them. */
export interface SpanPage {
  /** JSON with commas between the spans. */
  readonly json: Uint8Array<ArrayBuffer>;
  readonly next: SpanCursor | null;
}

/** A page of a trace's spans as the API shows them, where no log records add to them. */
export function spanPage(traceId: string, { spans, next }: SpanRows): SpanPage {
  const texts = spans.map(({ row, payload }) => spanJson(traceId, row, payload));
  return { json: new TextEncoder().encode(texts.join(',')), next };
}

/**
 * The same without payloads: how long they are, how the input begins, and the node of the service map.
 *
 * @param nodeOf the name of a node by its number
 */
export function outlinePage(
  traceId: string,
  { spans, next }: SpanRows,
  nodeOf: (nodeNo: number) => string | null,
): SpanPage {
  const texts = spans.map(({ row, payload: { input, output } }) =>
    JSON.stringify({
      ...spanHead(traceId, row),
      node: nodeOf(Number(row.node_no)),
      input_bytes: input?.length ?? null,
      output_bytes: output?.length ?? null,
      preview: input === null ? null : beginning(input),
    }),
  );
  return { json: new TextEncoder().encode(texts.join(',')), next };
}

/** A span as the API shows it; its payload's JSON is passed on as it was stored. */
function spanJson(traceId: string, row: Row, { input, output }: Payload): string {
  const head = JSON.stringify(spanHead(traceId, row));
  return `${head.slice(0, -1)},"input_data":${jsonOf(input)},"output_data":${jsonOf(output)}}`;
}

/** What is shown of a span beside its payload. @param row with the columns `SHOWN` */
function spanHead(traceId: string, row: Row) {
  return {
    span_id: row.span_id,
    trace_id: traceId,
    parent_span_id: row.parent_span_id,
    type: itemAt(SPAN_TYPES, Number(row.type)),
    name: row.name,
    status: itemAt(RUN_STATUSES, Number(row.status)),
    started_at: formatTime(Number(row.started_at)),
    ended_at: row.ended_at === null ? null : formatTime(Number(row.ended_at)),
    duration_ms: row.duration_ms,
    model: row.model,
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    total_tokens: row.total_tokens,
    cost_usd: row.cost_usd === null ? null : moneyToNumber(Number(row.cost_usd)),
    error_message: row.error_message,
    ...toldFields(row.same_as),
  };
}

/** Of UTF-8. */
function jsonOf(part: Uint8Array | null): string {
  return part === null ? 'null' : Buffer.from(part.buffer, part.byteOffset, part.length).toString('utf8');
}

/** The first characters of a text in UTF-8, none of them in half. */
function beginning(text: Uint8Array): string {
  const bytes = text.subarray(0, PREVIEW_CHARACTERS * MOST_BYTES_A_UNIT + MOST_BYTES_A_UNIT);
  const some = jsonOf(bytes).slice(0, PREVIEW_CHARACTERS);
  return /[\uD800-\uDBFF]$/.test(some) ? some.slice(0, -1) : some;
}
