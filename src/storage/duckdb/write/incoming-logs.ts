import { itemAt, wordAt } from '../../../signal/checked.js';
import { ColumnsReader } from '../../../worker/columns-reader.js';
import { indexOf } from '../../schema/table.js';
import { LOGS } from '../../schema/log-tables.js';
import type { Charge } from '../../incoming/encode-traces.js';
import { type Origins, numberOrigins } from './origins.js';
import { ORIGIN_MESSAGE } from './origin-message.js';
import type { ScoreRow } from '../../incoming/score-rows.js';
import type { Append } from './change.js';
import { noteVerdicts, scoreRows } from './incoming-scores.js';
import { columnRows, type Rows } from './rows.js';
import { LOG_MESSAGE, type LogsMessage } from './encode-logs.js';

const ORIGIN = indexOf(LOG_MESSAGE, 'origin');
const TRACE_ID = indexOf(LOG_MESSAGE, 'trace_id');

/** Records which traces have something among their log records. */
export interface NotedTraces {
  /** @param words the trace's id, from `offset` on */
  put(tenant: number, words: Uint32Array, offset: number, seq: number): void;
}

interface Noted {
  /** GenAI events. */
  readonly withEvents: NotedTraces;
  /** Scores that decide about their success. */
  readonly verdicts: NotedTraces;
}

/** A batch of log records that waits for its commit. */
export class IncomingLogs implements Append {
  readonly bytes: number;
  readonly weight: number;
  readonly counted: Charge | null;
  readonly #tenant: number;
  readonly #origins: Origins;
  readonly #logs: ColumnsReader;
  readonly #originRows: ColumnsReader;
  /** For each record, the position of its origin among the message's. */
  readonly #originOf: Uint32Array;
  readonly #events: readonly number[];
  readonly #scores: readonly ScoreRow[];
  readonly #noted: Noted;
  #seq = 0;

  constructor(message: LogsMessage, origins: Origins, noted: Noted) {
    this.#tenant = message.tenant;
    this.counted = message.counted ?? null;
    this.#origins = origins;
    this.#events = message.events;
    this.#scores = message.scores ?? [];
    this.#noted = noted;
    this.#logs = new ColumnsReader(LOG_MESSAGE, message.logs);
    this.#originRows = new ColumnsReader(ORIGIN_MESSAGE, message.origins);
    this.#originOf = this.#logs.uint32s(ORIGIN);
    this.bytes = message.logs.fixed.byteLength + message.logs.text.byteLength;
    this.weight = this.#logs.rows;
  }

  get items(): number {
    return this.weight;
  }

  get buffers(): ArrayBuffer[] {
    return [...this.#logs.buffers, ...this.#originRows.buffers];
  }

  rows(seq: number): Rows[] {
    const tenant = this.#tenant;
    this.#seq = seq;
    const { numbers, rows } = numberOrigins(this.#origins, this.#originRows, { seq, tenant });
    const logs = columnRows(LOGS, {
      source: this.#logs,
      from: 0,
      to: this.#logs.rows,
      assigned: {
        seq,
        tenant,
        log_no: 0,
        origin_no: (row) => itemAt(numbers, wordAt(this.#originOf, row)),
      },
    });
    return [...rows, logs, ...scoreRows(seq, tenant, this.#scores)];
  }

  committed(): void {
    this.#origins.committed();
    noteVerdicts(this.#noted.verdicts, this.#tenant, this.#scores, this.#seq);
    if (this.#events.length === 0) return;
    const traces = this.#logs.uuidWords(TRACE_ID);
    for (const row of this.#events) this.#noted.withEvents.put(this.#tenant, traces, row * 4, this.#seq);
  }

  rolledBack(): void {
    this.#origins.rollback();
  }
}
