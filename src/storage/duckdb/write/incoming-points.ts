import { itemAt, wordAt } from '../../../signal/checked.js';
import { ColumnsReader } from '../../../worker/columns-reader.js';
import { indexOf, type AssignedColumns } from '../../schema/table.js';
import { METRIC_STREAMS, POINTS } from '../../schema/tables.js';
import type { Charge } from '../../incoming/encode-traces.js';
import { numberOrigins, type Origins } from './origins.js';
import { ORIGIN_MESSAGE } from './origin-message.js';
import type { Append } from './change.js';
import { columnRows, objectRows, type Rows } from './rows.js';
import { POINT_MESSAGE, STREAM_MESSAGE, type PointsMessage } from './encode-points.js';
import type { MetricStreams, StreamVersion } from './metric-streams.js';

const STREAM = indexOf(POINT_MESSAGE, 'stream');
const ORIGIN = indexOf(POINT_MESSAGE, 'origin');
const TIMESTAMP = indexOf(POINT_MESSAGE, 'timestamp');
const NAME = indexOf(STREAM_MESSAGE, 'name');
const TYPE = indexOf(STREAM_MESSAGE, 'type');
const UNIT = indexOf(STREAM_MESSAGE, 'unit');
const DESCRIPTION = indexOf(STREAM_MESSAGE, 'description');
/** Replaces a stream number: the points of the stream are refused. */
const REFUSED = -1;

/** A batch of points that waits for its commit. */
export class IncomingPoints implements Append {
  readonly bytes: number;
  readonly weight: number;
  readonly counted: Charge | null;
  readonly #tenant: number;
  readonly #streams: MetricStreams;
  readonly #origins: Origins;
  readonly #points: ColumnsReader;
  readonly #streamRows: ColumnsReader;
  readonly #originRows: ColumnsReader;
  /** For each point, the positions of its stream and of its origin among the message's. */
  readonly #streamOf: Uint32Array;
  readonly #originOf: Uint32Array;
  #streamNos: number[] = [];
  #originNos: readonly number[] = [];
  #refused: readonly number[] = [];

  constructor(message: PointsMessage, streams: MetricStreams, origins: Origins) {
    this.#tenant = message.tenant;
    this.counted = message.counted ?? null;
    this.#streams = streams;
    this.#origins = origins;
    this.#points = new ColumnsReader(POINT_MESSAGE, message.points);
    this.#streamRows = new ColumnsReader(STREAM_MESSAGE, message.streams);
    this.#originRows = new ColumnsReader(ORIGIN_MESSAGE, message.origins);
    this.#streamOf = this.#points.uint32s(STREAM);
    this.#originOf = this.#points.uint32s(ORIGIN);
    this.bytes = message.points.fixed.byteLength + message.points.text.byteLength;
    this.weight = this.#points.rows;
  }

  /** The positions of the points that the last {@link rows} left out because their user has too many metrics. */
  get refused(): readonly number[] {
    return this.#refused;
  }

  get items(): number {
    return this.weight - this.#refused.length;
  }

  get buffers(): ArrayBuffer[] {
    return [this.#points, this.#streamRows, this.#originRows].flatMap(({ buffers }) => buffers);
  }

  rows(seq: number): Rows[] {
    const versions: StreamVersion[] = [];
    this.#streamNos = this.#numberStreams(versions);
    this.#refused = this.#pointsOf(REFUSED);
    const origins = numberOrigins(this.#origins, this.#originRows, { seq, tenant: this.#tenant });
    this.#originNos = origins.numbers;
    const assigned: AssignedColumns<typeof POINTS> = {
      seq,
      tenant: this.#tenant,
      stream_no: (row) => itemAt(this.#streamNos, wordAt(this.#streamOf, row)),
      origin_no: (row) => itemAt(this.#originNos, wordAt(this.#originOf, row)),
    };
    const points = this.#takenRuns().map(([from, to]) =>
      columnRows(POINTS, { source: this.#points, from, to, assigned }),
    );
    return [...this.#streamVersions(seq, versions), ...origins.rows, ...points];
  }

  committed(): void {
    const seen = new Map<number, { points: number; first: number; last: number }>();
    this.#streamOf.forEach((stream, row) => {
      const time = Number(this.#points.value(TIMESTAMP, row));
      const known = seen.get(stream);
      if (known === undefined) {
        seen.set(stream, { points: 1, first: time, last: time });
        return;
      }
      known.points++;
      known.first = Math.min(known.first, time);
      known.last = Math.max(known.last, time);
    });
    for (const [stream, { points, first, last }] of seen) {
      const number = itemAt(this.#streamNos, stream);
      this.#streams.count(number, points);
      this.#streams.extend(number, first, last);
    }
    this.#streams.committed();
    this.#origins.committed();
  }

  rolledBack(): void {
    this.#streams.rollback();
    this.#origins.rollback();
  }

  /** The positions of the points of a stream. */
  #pointsOf(streamNo: number): number[] {
    const found: number[] = [];
    this.#streamOf.forEach((stream, row) => {
      if (this.#streamNos[stream] === streamNo) found.push(row);
    });
    return found;
  }

  /** The number of each of the message's streams. */
  #numberStreams(versions: StreamVersion[]): number[] {
    const rows = this.#streamRows;
    return Array.from({ length: rows.rows }, (_, row) => {
      const seen = this.#streams.seen(this.#tenant, String(rows.value(NAME, row)), {
        type: Number(rows.value(TYPE, row)),
        unit: String(rows.value(UNIT, row)),
        description: String(rows.value(DESCRIPTION, row)),
      });
      if (seen?.version) versions.push(seen.version);
      return seen?.stream.stream_no ?? REFUSED;
    });
  }

  /** Ranges `[from, to)` of adjacent accepted points. */
  #takenRuns(): [from: number, to: number][] {
    const runs: [number, number][] = [];
    let from = 0;
    for (let row = 0; row <= this.#points.rows; row++) {
      const isEnd = row === this.#points.rows;
      if (!isEnd && this.#streamNos[wordAt(this.#streamOf, row)] !== REFUSED) continue;
      if (row > from) runs.push([from, row]);
      from = row + 1;
    }
    return runs;
  }

  #streamVersions(seq: number, versions: readonly StreamVersion[]): Rows[] {
    return objectRows(
      METRIC_STREAMS,
      versions.map(({ stream: { stream_no, name, facts }, before }) => ({
        seq,
        tenant: this.#tenant,
        replaces: before !== null,
        stream_no,
        name,
        ...facts,
      })),
    );
  }
}
