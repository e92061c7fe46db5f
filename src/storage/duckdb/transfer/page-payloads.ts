import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { wordAt } from '../../../signal/checked.js';
import { payloadsOf } from '../../../runs/rules/payload.js';
import { ColumnsReader } from '../../../worker/columns-reader.js';
import { ColumnsWriter } from '../../../worker/columns-writer.js';
import { TextScratch } from '../../../worker/text-scratch.js';
import { COMMIT, createTable, defineTable, indexOf, type AssignedColumns } from '../../schema/table.js';
import { PAYLOADS, PAYLOAD_LINES } from '../../schema/tables.js';
import { TableAppender } from '../files/appender.js';
import type { Connection, FixedChunk } from '../files/connection.js';
import { int64At } from '../files/plain-rows.js';
import { payloadParts } from '../maintenance/payload-parts.js';
import type { OfCommits } from '../segments/commit-ranges.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';

/** The payloads of the spans of one page, a row for each span, so that they can be joined to these. */
const PAGE_PAYLOADS = defineTable({
  name: 'export_payloads',
  store: [...COMMIT, { name: 'line', kind: 'uint32', sql: 'UINTEGER' }],
  wire: [
    { name: 'trace_id', kind: 'uuid', sql: 'UUID' },
    { name: 'input', kind: 'text', sql: 'VARCHAR', nullable: true },
    { name: 'output', kind: 'text', sql: 'VARCHAR', nullable: true },
    { name: 'metadata', kind: 'text', sql: 'VARCHAR', nullable: true },
    { name: 'sent', kind: 'text', sql: 'BLOB', nullable: true },
    { name: 'origin', kind: 'text', sql: 'BLOB', nullable: true },
  ],
});
/** DuckDB's in-memory database. It spills to files next to the store. */
const CATALOG = 'memory';
/** The table that {@link PagePayloads} fills. */
export const PAGE_PAYLOADS_PLACE = `${CATALOG}.main.${PAGE_PAYLOADS.name}`;

const PARTS = ['input', 'output', 'metadata', 'sent', 'origin'] as const;
const P = Object.fromEntries(PARTS.map((part) => [part, indexOf(PAGE_PAYLOADS.wire, part)])) as Record<
  (typeof PARTS)[number],
  number
>;
const TRACE_ID = indexOf(PAGE_PAYLOADS.wire, 'trace_id');
/** Longest time without yielding, because commits wait meanwhile. */
const SLICE_MS = 4;

/** Unpacks payloads from their stored pieces. */
export class PagePayloads {
  readonly #connection: Connection;
  readonly #capture: Capture;
  readonly #text = new TextScratch();
  #sliceEnd = 0;

  constructor(connection: Connection, capture: Capture) {
    this.#connection = connection;
    this.#capture = capture;
  }

  /** Begins a page with an empty {@link PAGE_PAYLOADS_PLACE}. */
  async begin(): Promise<void> {
    await this.clear();
    await this.#connection.run(createTable(CATALOG, PAGE_PAYLOADS));
  }

  /** Loads the payloads of some commits into {@link PAGE_PAYLOADS_PLACE}; if it fails, none of them. */
  async load(page: OfCommits): Promise<void> {
    const appender = new TableAppender(this.#connection, CATALOG, PAGE_PAYLOADS);
    this.#sliceEnd = performance.now() + SLICE_MS;
    try {
      for (const part of await payloadParts(this.#connection, this.#capture, page)) {
        // Streamed: a whole result stays in memory until it is garbage collected.
        const chunks = this.#connection.chunks(
          `SELECT seq, tenant, trace_id, first_line, ${PAYLOAD_LINES} FROM ${relation(this.#capture, PAYLOADS, part)}`,
        );
        for await (const chunk of chunks) await this.#append(chunk, appender);
      }
      appender.close();
    } catch (error) {
      appender.abandon();
      await this.#connection.run(`DELETE FROM ${PAGE_PAYLOADS_PLACE} WHERE ${page.sql}`);
      this.#connection.failed(error);
      throw error;
    }
  }

  async clear(): Promise<void> {
    await this.#connection.run(`DROP TABLE IF EXISTS ${PAGE_PAYLOADS_PLACE}`);
  }

  async #append(chunk: FixedChunk, appender: TableAppender): Promise<void> {
    const [seqs, tenants] = [chunk.words(0, 8), chunk.words(1, 4)];
    const [traceIds, firstLines] = [chunk.words(2, 16), chunk.words(3, 4)];
    for (let row = 0; row < chunk.rows; row++) {
      const payloads = payloadsOf(chunk.bytes(4, row));
      const writer = new ColumnsWriter(PAGE_PAYLOADS.wire, payloads.length, this.#text);
      payloads.forEach((payload, i) => {
        writer.uuidWords(TRACE_ID, i, traceIds, row * 4);
        for (const part of PARTS) writer.value(P[part], 'text', i, payload[part]);
      });
      const [seq, tenant, first] = [int64At(seqs, row), wordAt(tenants, row), wordAt(firstLines, row)];
      const source = new ColumnsReader(PAGE_PAYLOADS.wire, writer.finish());
      const assigned: AssignedColumns<typeof PAGE_PAYLOADS> = { seq, tenant, line: (i) => first + i };
      appender.append(source, 0, payloads.length, assigned);
      if (performance.now() < this.#sliceEnd) continue;
      await yieldToOthers();
      this.#sliceEnd = performance.now() + SLICE_MS;
    }
  }
}
