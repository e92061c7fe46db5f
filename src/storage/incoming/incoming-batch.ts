import type { SpanRow } from '../../runs/rules/rows.js';
import { WHOLE } from '../../runs/rules/duplicate-calls.js';
import type { SpanCounts } from '../../runs/rules/usage.js';
import type { IncomingRows } from '../../runs/incoming-spans.js';
import { runKey } from '../../runs/run-key.js';
import { intAt, itemAt, wordAt } from '../../signal/checked.js';
import type { EventType } from '../../signal/event.js';
import { NO_NODE, type DerivedMap } from '../../signal/service-map.js';
import { ColumnsReader } from '../../worker/columns-reader.js';
import { wordsOfKey } from '../../worker/uuid-words.js';
import { indexOf } from '../schema/table.js';
import { SPAN_WIRE } from '../schema/tables.js';
import type { ScoreRow } from './score-rows.js';
import type { PromptMessage } from './prompt-message.js';
import { SPAN_MESSAGE, TRACE_MESSAGE, type Charge, type TracesMessage } from './encode-traces.js';

/** Assigns numbers to the service-map node names in batches. */
export interface NodeNumbers {
  number(tenant: number, name: string): number;
}

/** A batch waiting for its commit, with direct access to its columns. */
export class IncomingBatch implements IncomingRows {
  readonly tenant: number;
  readonly receivedAt: number;
  readonly traces: ColumnsReader;
  readonly spans: ColumnsReader;
  /** Ids as 32-bit words: of each trace, of each span, and of each span's parent, if any. */
  readonly traceIds: Uint32Array;
  readonly spanIds: Uint32Array;
  readonly parentIds: Uint32Array;
  /** For each duplicate span, the id of the span on which its call is counted. */
  readonly sameIds: Uint32Array;
  readonly bytes: number;
  /** The user and month whose quota it counts for; null for none. */
  readonly counted: Charge | null;
  /** Its additions to the service map; null if they were not derived. */
  readonly map: DerivedMap | null;
  /** The scores that came with its spans. */
  readonly scores: readonly ScoreRow[];
  /** The subscribed event types of its user. */
  readonly wanted: readonly EventType[];
  /** The prompt versions that its spans name; null if no span names one. */
  readonly #prompts: PromptMessage | null;
  /** Whether any span names a prompt version that its user has. */
  readonly usesPrompts: boolean;
  /** The numbers of the map's names; 0 for a name not numbered yet. */
  #nodeNumbers: Int32Array = NO_NUMBERS;
  #nodes: NodeNumbers | null = null;
  /** The index of the first span of each trace; one more entry marks the end. */
  readonly #starts: Uint32Array;

  constructor(message: TracesMessage) {
    this.tenant = message.tenant;
    this.counted = message.counted ?? null;
    this.wanted = message.wanted;
    this.receivedAt = message.receivedAt;
    this.traces = new ColumnsReader(TRACE_MESSAGE, message.traces);
    this.spans = new ColumnsReader(SPAN_MESSAGE, message.spans);
    this.traceIds = this.traces.uuidWords(TRACE_ID);
    this.spanIds = this.spans.uuidWords(SPAN_ID);
    this.parentIds = this.spans.uuidWords(PARENT_ID);
    this.sameIds = this.spans.uuidWords(SAME_AS);
    this.map = message.map ?? null;
    this.scores = message.scores ?? [];
    this.#prompts = message.prompts ?? null;
    this.usesPrompts = this.#prompts?.numbers.some((number) => number !== null) ?? false;
    this.bytes =
      message.spans.fixed.byteLength +
      message.spans.text.byteLength +
      message.traces.fixed.byteLength +
      message.traces.text.byteLength;
    this.#starts = new Uint32Array(this.traces.rows + 1);
    for (let i = 0; i < this.traces.rows; i++) {
      this.#starts[i + 1] = this.start(i) + Number(this.traces.value(SPAN_COUNT, i));
    }
  }

  /** The buffers of its columns. */
  get buffers(): ArrayBuffer[] {
    return [...this.traces.buffers, ...this.spans.buffers];
  }

  start(trace: number): number {
    return wordAt(this.#starts, trace);
  }

  end(trace: number): number {
    return wordAt(this.#starts, trace + 1);
  }

  /** Numbers the map's names with `nodes`, on demand. The numbers are valid for one attempt of the commit. */
  numberNodes(nodes: NodeNumbers): void {
    if (this.map === null) return;
    this.#nodes = nodes;
    this.#nodeNumbers = new Int32Array(this.map.names.length);
  }

  /** @param name its index in the map's list */
  nodeNumber(name: number): number {
    if (this.#nodes === null || this.map === null) return NO_NODE;
    const known = intAt(this.#nodeNumbers, name);
    if (known > 0) return known;
    const number = this.#nodes.number(this.tenant, itemAt(this.map.names, name));
    this.#nodeNumbers[name] = number;
    return number;
  }

  /** The number of a span's node, `NO_NODE` or `AGENT_NODE`. */
  nodeAt(row: number): number {
    return this.map === null ? NO_NODE : this.#numbered(intAt(this.map.nodes, row));
  }

  /** The same for the node that calls a span. */
  callerAt(row: number): number {
    return this.map === null ? NO_NODE : this.#numbered(intAt(this.map.callers, row));
  }

  #numbered(node: number): number {
    return node < 0 ? node : this.nodeNumber(node);
  }

  /** The number of the prompt version that a span names; null if it names none, or one that its user does not have. */
  promptAt(row: number): number | null {
    if (this.#prompts === null) return null;
    const prompt = intAt(this.#prompts.spans, row);
    return prompt < 0 ? null : itemAt(this.#prompts.numbers, prompt);
  }

  span(row: number): SpanRow {
    return this.spans.row(SPAN_WIRE, row);
  }

  /** Corrects the counts of a span, because the sender did not have the complete run. */
  rewriteCounts(row: number, { same_as, counted, counted_tokens, counted_cost }: SpanCounts): void {
    if (same_as !== null) wordsOfKey(same_as, this.sameIds.subarray(row * 4));
    this.spans.nullFlags(SAME_AS)[row] = same_as === null ? 1 : 0;
    this.spans.bytes(COUNTED)[row] = counted;
    this.spans.nullFlags(COUNTED)[row] = counted === WHOLE ? 1 : 0;
    this.spans.setInt64(COUNTED_TOKENS, row, counted_tokens);
    this.spans.setInt64(COUNTED_COST, row, counted_cost);
  }

  agent(trace: number): string {
    return this.traces.textBytes(AGENT, trace).toString('utf8');
  }

  /** A key of the trace, unique over all users. */
  traceKey(trace: number): string {
    return runKey(this.tenant, this.traceIds, trace * 4);
  }
}

const NO_NUMBERS = new Int32Array(0);
const TRACE_ID = indexOf(TRACE_MESSAGE, 'trace_id');
const SPAN_COUNT = indexOf(TRACE_MESSAGE, 'spans');
const AGENT = indexOf(TRACE_MESSAGE, 'agent');
const PARENT_ID = indexOf(SPAN_WIRE, 'parent_span_id');
const SPAN_ID = indexOf(SPAN_MESSAGE, 'span_id');
const SAME_AS = indexOf(SPAN_WIRE, 'same_as');
const COUNTED = indexOf(SPAN_WIRE, 'counted');
const COUNTED_TOKENS = indexOf(SPAN_WIRE, 'counted_tokens');
const COUNTED_COST = indexOf(SPAN_WIRE, 'counted_cost');
/** The position of the payload among the columns of a sent span. */
export const PAYLOAD = indexOf(SPAN_MESSAGE, 'payload');
