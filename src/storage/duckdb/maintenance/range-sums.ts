import { intAt, itemAt, wordAt } from '../../../signal/checked.js';
import { RUN_STATUSES } from '../../../signal/span.js';
import type { Grade } from '../../../signal/span-grade.js';
import { countTrace, hourOf, type MapSpan } from '../../../signal/trace-map.js';
import { uuidKey } from '../../../worker/uuid-words.js';
import { MAP_EDGES, MAP_NODES } from '../../schema/sum-tables.js';
import { SPANS, TRACES } from '../../schema/tables.js';
import { narrowed, ofCommitsBetween } from '../segments/commit-ranges.js';
import type { Connection, FixedChunk } from '../files/connection.js';
import { int64At } from '../files/plain-rows.js';
import { newest, relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import type { HourRange } from './hour-ranges.js';
import type { RebuildWork } from './rebuild-work.js';
import { TenantHours, type SumPart } from '../write/tenant-hours.js';

const HOUR = 3_600_000_000;
/** Numbers from here on represent agent names without a number. */
export const UNNUMBERED = 2 ** 25;
/** Replaces the type of a span if the trace has no span. */
const EMPTY = -1;
/** Replaces the end of a running span: before every accepted time. */
const NO_END = -(2 ** 52);
/** Replaces a grade that was not counted. */
const NO_GRADE = -1;
/** Added to the type of a span without a parent. */
const TOP = 256;
const NO_ID = "'00000000-0000-0000-0000-000000000000'::UUID";

/** The differences of the sums of some hours: derived minus stored. */
export class RangeSums {
  readonly #work: RebuildWork;
  readonly #connection: Connection;
  readonly #capture: Capture;
  readonly #hours = new TenantHours();
  /** Node numbers of agents, by agent number. */
  readonly #agents = new Map<number, number>();

  constructor(work: RebuildWork, connection: Connection, capture: Capture) {
    this.#work = work;
    this.#connection = connection;
    this.#capture = capture;
  }

  /** @returns the nonzero differences */
  async compare(range: HourRange): Promise<SumPart[]> {
    await this.#derive(range);
    await this.#takeStored(range);
    return this.#hours.parts();
  }

  async #derive({ from, before }: HourRange): Promise<void> {
    const conditions = ['is_mapped'];
    if (from > -Infinity) conditions.push(`started_at >= make_timestamp(${from * HOUR})`);
    if (before < Infinity) conditions.push(`started_at < make_timestamp(${before * HOUR})`);
    const headers = (more: string): string =>
      newest(this.#capture, TRACES, [...conditions, more].join(' AND '));
    const [extent] = await this.#connection.rows(
      `SELECT count(*) AS traces, coalesce(sum(span_count + 1), 0)::BIGINT AS size, coalesce(min(first_seq) FILTER (WHERE last_seq > 0), 0) AS first, coalesce(max(last_seq), 0) AS last FROM ${headers('TRUE')}`,
    );
    if (extent === undefined || extent.traces === 0) return;
    const parts = Math.ceil(Number(extent.size) / this.#work.size.part);
    for (let part = 0; part < parts; part++) {
      const isInPart = parts === 1 ? 'TRUE' : `hash(trace_id) % ${parts} = ${part}`;
      const where = narrowed(ofCommitsBetween(Number(extent.first), Number(extent.last)), isInPart);
      await this.#count(
        this.#connection.wholeChunks(
          `SELECT h.tenant, h.trace_id, h.agent_no, h.started_at,
             coalesce(s.type + if(s.parent_span_id IS NULL, ${TOP}, 0), ${EMPTY})::INTEGER,
             coalesce(s.node_no, 0), coalesce(s.span_id, ${NO_ID}), coalesce(s.parent_span_id, ${NO_ID}),
             coalesce(s.status, 0)::INTEGER, coalesce(s.started_at, h.started_at), coalesce(s.ended_at, make_timestamp(${NO_END}))
           FROM ${headers(isInPart)} h LEFT JOIN ${newest(this.#capture, SPANS, where)} s
             ON s.tenant = h.tenant AND s.trace_id = h.trace_id
           ORDER BY h.tenant, h.trace_id`,
        ),
      );
    }
  }

  /** @param chunks traces with their spans, grouped by trace */
  async #count(chunks: AsyncIterable<FixedChunk>): Promise<void> {
    let key = '';
    let spans: MapSpan[] = [];
    let trace = { tenant: 0, agentNo: 0, startedAt: 0 };
    for await (const chunk of chunks) {
      this.#work.throwIfStopped();
      const [tenants, traceIds, agents, starts] = [
        chunk.words(0, 4),
        chunk.words(1, 16),
        chunk.words(2, 4),
        chunk.words(3, 8),
      ];
      const [types, nodes, spanIds, parents] = [
        chunk.words(4, 4),
        chunk.words(5, 4),
        chunk.words(6, 16),
        chunk.words(7, 16),
      ];
      const [statuses, begun, ended] = [chunk.words(8, 4), chunk.words(9, 8), chunk.words(10, 8)];
      for (let row = 0; row < chunk.rows; row++) {
        const tenant = wordAt(tenants, row);
        const rowKey = `${tenant}/${uuidKey(traceIds, row * 4)}`;
        if (rowKey !== key) {
          if (key !== '') this.#countTrace(trace, spans);
          key = rowKey;
          spans = [];
          trace = { tenant, agentNo: wordAt(agents, row), startedAt: int64At(starts, row) };
        }
        const type = wordAt(types, row) | 0;
        if (type === EMPTY) continue;
        const ended_at = int64At(ended, row);
        spans.push({
          span_id: uuidKey(spanIds, row * 4),
          parent_span_id: type >= TOP ? null : uuidKey(parents, row * 4),
          type: type % TOP,
          node: wordAt(nodes, row) | 0,
          status: itemAt(RUN_STATUSES, wordAt(statuses, row)),
          started_at: int64At(begun, row),
          ended_at: ended_at === NO_END ? null : ended_at,
        });
      }
    }
    if (key !== '') this.#countTrace(trace, spans);
  }

  #countTrace(
    { tenant, agentNo, startedAt }: { tenant: number; agentNo: number; startedAt: number },
    spans: readonly MapSpan[],
  ): void {
    countTrace(this.#agentNode(tenant, agentNo), spans, this.#hours.sums(tenant, hourOf(startedAt)));
  }

  async #takeStored({ from, before }: HourRange): Promise<void> {
    const conditions = ['TRUE'];
    if (from > -Infinity) conditions.push(`hour >= ${from}`);
    if (before < Infinity) conditions.push(`hour < ${before}`);
    const where = conditions.join(' AND ');
    const nodes = this.#connection.wholeChunks(
      `SELECT tenant, hour, node_no, type::INTEGER, sum(spans)::BIGINT, sum(traces)::BIGINT, coalesce(grade, ${NO_GRADE})::INTEGER
       FROM ${relation(this.#capture, MAP_NODES, where)} GROUP BY tenant, hour, node_no, type, grade`,
    );
    for await (const chunk of nodes) {
      const [tenants, hours] = [ints(chunk, 0), ints(chunk, 1)];
      const [nodes, types] = [ints(chunk, 2), ints(chunk, 3)];
      const [spans, traces, grades] = [chunk.words(4, 8), chunk.words(5, 8), ints(chunk, 6)];
      for (let row = 0; row < chunk.rows; row++) {
        const sums = this.#hours.sums(intAt(tenants, row), intAt(hours, row));
        const [node, type, grade] = [intAt(nodes, row), intAt(types, row), gradeAt(grades, row)];
        sums.node(node, type, grade, -int64At(spans, row), -int64At(traces, row));
      }
    }
    const edges = this.#connection.wholeChunks(
      `SELECT tenant, hour, source_no, target_no, sum(spans)::BIGINT, coalesce(grade, ${NO_GRADE})::INTEGER
       FROM ${relation(this.#capture, MAP_EDGES, where)} GROUP BY tenant, hour, source_no, target_no, grade`,
    );
    for await (const chunk of edges) {
      const [tenants, hours] = [ints(chunk, 0), ints(chunk, 1)];
      const [sources, targets] = [ints(chunk, 2), ints(chunk, 3)];
      const [spans, grades] = [chunk.words(4, 8), ints(chunk, 5)];
      for (let row = 0; row < chunk.rows; row++) {
        const sums = this.#hours.sums(intAt(tenants, row), intAt(hours, row));
        sums.edge(intAt(sources, row), intAt(targets, row), gradeAt(grades, row), -int64At(spans, row));
      }
    }
  }

  #agentNode(tenant: number, agentNo: number): number {
    const known = this.#agents.get(agentNo);
    if (known !== undefined) return known;
    const { services, agents } = this.#work;
    const name = agents.byNumber(agentNo)?.name ?? '';
    const number = services.find(tenant, name) ?? UNNUMBERED + agentNo;
    this.#agents.set(agentNo, number);
    return number;
  }
}

function gradeAt(grades: Int32Array, row: number): Grade | null {
  const grade = intAt(grades, row);
  return grade === NO_GRADE ? null : grade;
}

/** The values of a signed 32-bit column. */
function ints(chunk: FixedChunk, column: number): Int32Array {
  return new Int32Array(chunk.words(column, 4));
}
