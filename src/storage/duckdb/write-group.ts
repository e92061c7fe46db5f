import type { SpanRow } from '../../runs/rules/rows.js';
import type { SentRows } from '../../runs/sent-spans.js';
import { runKey } from '../../runs/run-key.js';
import type { EventType } from '../../signal/event.js';
import { NO_NODE } from '../../signal/service-map.js';
import type { Micros } from '../../signal/time.js';
import { ColumnsReader } from '../../worker/columns-reader.js';
import { indexOf, type Table } from '../table.js';
import { SPAN_WIRE } from '../tables.js';
import type { Counted } from './event-counts.js';
import type { Services } from './map/services.js';
import type { PromptMessage } from './prompts/prompt-message.js';
import { SPAN_MESSAGE, TRACE_MESSAGE, type MapMessage, type TracesMessage } from './encode-traces.js';

/** A batch that waits for its commit, with its columns at hand. */
export class IncomingBatch implements SentRows {
  readonly tenant: number;
  readonly receivedAt: number;
  readonly traces: ColumnsReader;
  readonly spans: ColumnsReader;
  /** Ids in words: of each trace, of each span, and of each span's parent where it has one. */
  readonly traceIds: Uint32Array;
  readonly spanIds: Uint32Array;
  readonly parentIds: Uint32Array;
  readonly bytes: number;
  /** Whose quota it counts for, where it is counted. */
  readonly counted: Counted | null;
  /** What it adds to the service map; null where nobody derived that. */
  readonly map: MapMessage | null;
  /** The events of its tenant that somebody wants. */
  readonly wanted: readonly EventType[];
  /** The prompt versions that its spans name; null where none does. */
  readonly #prompts: PromptMessage | null;
  /** Whether any of its spans names a prompt version that its tenant has. */
  readonly usesPrompts: boolean;
  /** The numbers of the map's names; 0 where nobody has asked yet. */
  #nodeNumbers: Int32Array = NO_NUMBERS;
  #services: Services | null = null;
  /** Of each trace, where its spans begin; one more at the end. */
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
    this.map = message.map ?? null;
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

  start(trace: number): number {
    return this.#starts[trace] ?? 0;
  }

  end(trace: number): number {
    return this.#starts[trace + 1] ?? 0;
  }

  /** From here on names of the map get their numbers there, as they are asked for; they hold for one try of the commit. */
  numberNodes(services: Services): void {
    if (this.map === null) return;
    this.#services = services;
    this.#nodeNumbers = new Int32Array(this.map.names.length);
  }

  /** @param name its position in the map's list */
  nodeNumber(name: number): number {
    const known = this.#nodeNumbers[name] ?? 0;
    if (known > 0) return known;
    const number = this.#services?.number(this.tenant, this.map?.names[name] ?? '') ?? NO_NODE;
    this.#nodeNumbers[name] = number;
    return number;
  }

  /** The number of the node that a span makes, `NO_NODE` or `AGENT_NODE`. */
  nodeAt(row: number): number {
    const node = this.map?.nodes[row] ?? NO_NODE;
    return node < 0 ? node : this.nodeNumber(node);
  }

  /** The number of the prompt version that a span names; null where it names none, or one that its tenant does not have. */
  promptAt(row: number): number | null {
    return this.#prompts?.numbers[this.#prompts.spans[row] ?? -1] ?? null;
  }

  span(row: number): SpanRow {
    return this.spans.row(SPAN_WIRE, row);
  }

  agent(trace: number): string {
    return this.traces.textBytes(AGENT, trace).toString('utf8');
  }

  /** The key of a trace: unique among all tenants. */
  traceKey(trace: number): string {
    return runKey(this.tenant, this.traceIds, trace * 4);
  }
}

/** A change of a stored header: of a trace, asked for by its owner. */
export interface OutcomeChange {
  readonly tenant: number;
  /** The trace's id in words. */
  readonly words: Uint32Array;
  readonly success: boolean;
  readonly outcome: string | undefined;
}

/** A run that is to count as timed out, unless something of it came meanwhile. */
export interface TimeoutChange {
  readonly tenant: number;
  /** The trace's id in words. */
  readonly words: Uint32Array;
  /** The commit of the newest header when it was found to be idle. */
  readonly seq: number;
  /** The events that somebody wants of its tenant: its agent may be certain from here on. */
  readonly wanted: readonly EventType[];
}

/** A stored trace whose nodes of the service map are to be derived anew. */
export interface RemapChange {
  readonly tenant: number;
  /** The trace's id in words. */
  readonly words: Uint32Array;
}

/** A stored run whose header is to follow its spans no more. */
export interface CloseChange {
  readonly tenant: number;
  /** The trace's id in words. */
  readonly words: Uint32Array;
}

/**
 * Of a batch that waits those spans that complete stored ones, or some of them, committed before the batch: to complete a
 * span twice changes nothing, so the batch finds these done and is left with less. Nothing else of the batch is written,
 * and nobody is answered. When the process dies before the batch is committed its sender has no answer and sends it again.
 */
export interface AheadChange {
  readonly batch: IncomingBatch;
  /** By their positions in the batch: the row of the trace before which its spans count. */
  readonly traces: ReadonlyMap<number, number>;
}

/** A link between a prompt version and a trace, which may not be stored yet. */
export interface LinkChange {
  readonly tenant: number;
  /** The trace's id in words. */
  readonly words: Uint32Array;
  readonly promptNo: number;
  /** The span's id in words; null for the trace as a whole. */
  readonly spanWords: Uint32Array | null;
  readonly linkedAt: Micros;
}

/** Rows that touch nothing stored: metric points, log records. */
export interface Append {
  /** Of the encoded batch: a segment is sealed at so many. */
  readonly bytes: number;
  /** How many rows weigh in a group, which is limited by them. */
  readonly weight: number;
  readonly counted: Counted | null;
  /** How many of its rows the last {@link rows} gave: metric points, log records. */
  readonly events: number;
  /**
   * The rows to write in the commit `seq`. Called between commits, once for each try; what it changes in memory holds
   * only after {@link committed} and is taken back by {@link rolledBack}.
   */
  rows(seq: number): readonly Rows[];
  committed(): void;
  /** Also called when the commit failed before {@link rows}. */
  rolledBack(): void;
}

export type Change =
  | { readonly batch: IncomingBatch }
  | { readonly outcome: OutcomeChange }
  | { readonly timeout: TimeoutChange }
  | { readonly remap: RemapChange }
  | { readonly close: CloseChange }
  | { readonly ahead: AheadChange }
  | { readonly link: LinkChange }
  | { readonly append: Append };

/** A change that is about traces. */
export type TraceChange = Exclude<Change, { readonly append: Append }>;

/** Rows of a table, and where they came from, ready for the appender. */
export interface Rows {
  readonly table: Table;
  readonly source: ColumnsReader;
  readonly from: number;
  readonly to: number;
  /** Sets the values of the table's own columns for a row of the source. */
  readonly own: (row: number, values: number[]) => void;
  /** How many of them replace older versions. */
  readonly replacing: number;
}

const NO_NUMBERS = new Int32Array(0);
const TRACE_ID = indexOf(TRACE_MESSAGE, 'trace_id');
const SPAN_COUNT = indexOf(TRACE_MESSAGE, 'spans');
const AGENT = indexOf(TRACE_MESSAGE, 'agent');
const PARENT_ID = indexOf(SPAN_WIRE, 'parent_span_id');
const SPAN_ID = indexOf(SPAN_MESSAGE, 'span_id');
/** The payload's position among the columns of a span as it crosses. */
export const PAYLOAD = indexOf(SPAN_MESSAGE, 'payload');
