import type { Micros } from '../../signal/time.js';
import type { ParquetReader } from '../duckdb/files/parquet-files.js';
import type { ExportedRow, TelemetryIn } from '../contracts/transfer.js';
import { ExportedRunsEncoder, type RunPart } from './encode-runs.js';
import { EXPORTED } from './exported-tables.js';
import { exportedRows, parquet } from './parquet.js';
import { bytesOf } from './row-bytes.js';
import type { Sending } from './sending.js';

/** Maximum number of spans per part of a run, and per message. */
const PART_SPANS = 2000;
const MESSAGE_SPANS = 2000;
const MESSAGE_BYTES = 1024 * 1024;

/** Values that all parts of a message share. */
interface Shared {
  readonly tenant: number;
  readonly lastSeenAt: Micros;
  readonly isMapped: boolean;
}

/** Imports the runs of an export with their spans, in order of arrival. */
export class RunsImport {
  readonly #reader: ParquetReader;
  readonly #to: TelemetryIn;
  readonly #sending: Sending;
  readonly #wrote: (rows: number) => void;
  readonly #encoder = new ExportedRunsEncoder();
  #runs = new Map<string, ExportedRow>();
  /** The part being read: its spans all arrived together. */
  #part: { readonly key: string; readonly run: ExportedRow; readonly spans: ExportedRow[] } | null = null;
  #parts: RunPart[] = [];
  #shared: Shared | null = null;
  #spans = 0;
  #bytes = 0;

  /** @param wrote called with the number of rows sent */
  constructor(reader: ParquetReader, to: TelemetryIn, sending: Sending, wrote: (rows: number) => void) {
    this.#reader = reader;
    this.#to = to;
    this.#sending = sending;
    this.#wrote = wrote;
  }

  /**
   * @param runs the file of runs
   * @param spans the files of spans, in order
   * @param isWhole false for an export with missing rows: spans without a run are skipped, runs without spans are not
   */
  async import(runs: string, spans: readonly string[], isWhole: boolean): Promise<void> {
    const { columns } = EXPORTED.runs;
    const { columns: spanColumns } = EXPORTED.spans;
    await this.#reader.run(`CREATE TABLE runs AS SELECT * FROM ${exportedRows(runs, columns)}`);
    for (const file of spans) {
      await this.#findRuns(file);
      for await (const page of this.#reader.pages(spanColumns, exportedRows(file, spanColumns)))
        for (const row of page) if (isWhole || this.#runs.has(runKey(row))) await this.#add(row);
      await this.#endPart();
    }
    this.#runs = new Map();
    const withSpans = spans.map(
      (file) =>
        `EXISTS (SELECT 1 FROM ${parquet(file)} s WHERE s.tenant = r.tenant AND s.trace_id = r.trace_id)`,
    );
    const without = isWhole ? 'last_seq = 0' : `NOT (${['false', ...withSpans].join(' OR ')})`;
    for await (const page of this.#reader.pages(columns, `runs r WHERE ${without}`))
      for (const run of page) await this.#addPart({ run, spans: [] });
    await this.#send();
    await this.#reader.run('DROP TABLE runs');
  }

  /** Reads the runs that have spans in a file. */
  async #findRuns(file: string): Promise<void> {
    const has = `EXISTS (SELECT 1 FROM ${parquet(file)} s WHERE s.tenant = r.tenant AND s.trace_id = r.trace_id)`;
    this.#runs = new Map();
    for await (const page of this.#reader.pages(EXPORTED.runs.columns, `runs r WHERE ${has}`))
      for (const run of page) this.#runs.set(runKey(run), run);
  }

  async #add(row: ExportedRow): Promise<void> {
    const key = `${String(row['seq'])}/${runKey(row)}`;
    if (this.#part !== null && (this.#part.key !== key || this.#part.spans.length >= PART_SPANS))
      await this.#endPart();
    if (this.#part === null) {
      const run = this.#runs.get(runKey(row));
      if (run === undefined)
        throw new Error(`The run ${String(row['trace_id'])} of a span is not in the export`);
      this.#part = { key, run, spans: [] };
    }
    this.#part.spans.push(row);
  }

  async #endPart(): Promise<void> {
    const part = this.#part;
    this.#part = null;
    if (part !== null) await this.#addPart(part);
  }

  async #addPart(part: RunPart): Promise<void> {
    const { run, spans } = part;
    const shared = {
      tenant: Number(run['tenant']),
      lastSeenAt: Number(run['heard_at']),
      isMapped: run['is_mapped'] === true,
    };
    const before = this.#shared;
    const isSame =
      before?.tenant === shared.tenant &&
      before.lastSeenAt === shared.lastSeenAt &&
      before.isMapped === shared.isMapped &&
      this.#spans + spans.length <= MESSAGE_SPANS &&
      // A message contains each run once.
      !this.#parts.some((other) => other.run === run);
    if (!isSame || this.#bytes > MESSAGE_BYTES) await this.#send();
    this.#shared = shared;
    this.#parts.push(part);
    this.#spans += spans.length;
    for (const span of spans) this.#bytes += bytesOf(span);
  }

  async #send(): Promise<void> {
    const [parts, shared, bytes] = [this.#parts, this.#shared, this.#bytes];
    const rows = this.#spans;
    this.#parts = [];
    this.#shared = null;
    this.#spans = 0;
    this.#bytes = 0;
    if (shared === null) return;
    const encoded = this.#encoder.encode(parts, shared.lastSeenAt, shared.isMapped);
    await this.#sending.send(bytes, async () => {
      await this.#to.traces(shared.tenant, encoded);
      this.#wrote(rows + parts.filter(({ spans }) => spans.length === 0).length);
    });
  }
}

function runKey(row: ExportedRow): string {
  return `${String(row['tenant'])}/${String(row['trace_id'])}`;
}
