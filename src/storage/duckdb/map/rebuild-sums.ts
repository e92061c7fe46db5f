import { HourSums } from '../../../signal/hour-sums.js';
import { SPAN_TYPES } from '../../../signal/span.js';
import { formatTime } from '../../../signal/time.js';
import { countTrace, hourOf, type MapSpan } from '../../../signal/trace-map.js';
import { uuidKey } from '../../../worker/uuid-words.js';
import { MAP_EDGES, MAP_NODES } from '../../sum-tables.js';
import { SPANS, TRACES } from '../../tables.js';
import { int64At, type Connection, type FixedChunk } from '../database.js';
import { newest, relation } from '../relation.js';
import type { Capture } from '../segments.js';
import { hourRanges, type HourRange } from './hour-ranges.js';
import type { RebuildWork } from './rebuild.js';
import { SumCorrections, type SumCorrection } from './sum-corrections.js';

/** Rows of one commit. */
const CORRECTIONS = 2000;
const HOUR = 3_600_000_000;
/** Numbers from here on stand for names of agents that have none. */
const UNNUMBERED = 2 ** 25;
/** In place of a type: the trace has no span. */
const EMPTY = -1;
/** Added to the type of a span without a parent. */
const TOP = 256;

/**
 * Derives the sums of nodes and edges from the stored spans of all traces that are in the map, compares, and commits what
 * is to be added to the stored ones, or taken from them. Range by range of hours: a trace counts in one hour only, so each
 * range can be compared at a moment of its own.
 *
 * @returns how many traces there are
 */
export async function rebuildSums(work: RebuildWork): Promise<number> {
  const { ranges, traces } = await work.read((connection, capture) =>
    hourRanges(connection, capture, work.size.part),
  );
  for (const range of ranges) {
    const differing = await work.read((connection, capture) =>
      new RangeSums(work, connection, capture).compare(range),
    );
    for (const correction of differing) work.findings.add('sums', () => inWords(work, correction));
    if (!work.dryRun) await correct(work, differing.filter(isNumbered));
  }
  return traces;
}

async function correct(
  { writer, throwIfStopped }: RebuildWork,
  corrections: readonly SumCorrection[],
): Promise<void> {
  for (let next = 0; next < corrections.length; next += CORRECTIONS) {
    throwIfStopped();
    await writer.write({ append: new SumCorrections(corrections.slice(next, next + CORRECTIONS)) });
  }
}

/** The sums of some hours: those derived less those stored. */
class RangeSums {
  readonly #work: RebuildWork;
  readonly #connection: Connection;
  readonly #capture: Capture;
  readonly #hours = new Map<string, { tenant: number; hour: number; sums: HourSums }>();
  /** The numbers of the agents' nodes, by the number of the agent. */
  readonly #agents = new Map<number, number>();

  constructor(work: RebuildWork, connection: Connection, capture: Capture) {
    this.#work = work;
    this.#connection = connection;
    this.#capture = capture;
  }

  /** @returns those that are not zero */
  async compare(range: HourRange): Promise<SumCorrection[]> {
    await this.#derive(range);
    await this.#takeStored(range);
    return [...this.#hours.values()].flatMap(({ tenant, hour, sums }) => [
      ...sums.nodes().map((node) => ({ tenant, hour, node })),
      ...sums.edges().map((edge) => ({ tenant, hour, edge })),
    ]);
  }

  async #derive({ from, before }: HourRange): Promise<void> {
    const conditions = ['is_mapped'];
    if (from > -Infinity) conditions.push(`started_at >= make_timestamp(${from * HOUR})`);
    if (before < Infinity) conditions.push(`started_at < make_timestamp(${before * HOUR})`);
    const headers = (more: string): string =>
      newest(this.#capture, TRACES, `${conditions.join(' AND ')}${more}`);
    const [extent] = await this.#connection.rows(
      `SELECT count(*) AS traces, coalesce(sum(span_count + 1), 0)::BIGINT AS size, coalesce(min(first_seq) FILTER (WHERE last_seq > 0), 0) AS first, coalesce(max(last_seq), 0) AS last FROM ${headers('')}`,
    );
    if (extent === undefined || extent.traces === 0) return;
    const parts = Math.ceil(Number(extent.size) / this.#work.size.part);
    for (let part = 0; part < parts; part++) {
      const inPart = parts === 1 ? '' : ` AND hash(trace_id) % ${parts} = ${part}`;
      const where = `seq BETWEEN ${String(extent.first)} AND ${String(extent.last)}${inPart}`;
      await this.#count(
        this.#connection.chunks(
          `SELECT h.tenant, h.trace_id, h.agent_no, h.started_at,
             coalesce(s.type + if(s.parent_span_id IS NULL, ${TOP}, 0), ${EMPTY})::INTEGER,
             coalesce(s.node_no, 0), coalesce(s.span_id, ${NO_ID}), coalesce(s.parent_span_id, ${NO_ID})
           FROM ${headers(inPart)} h LEFT JOIN ${newest(this.#capture, SPANS, where)} s
             ON s.tenant = h.tenant AND s.trace_id = h.trace_id
           ORDER BY h.tenant, h.trace_id`,
        ),
      );
    }
  }

  /** @param chunks traces with their spans, one trace after the other */
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
      for (let row = 0; row < chunk.rows; row++) {
        const tenant = tenants[row] ?? 0;
        const rowKey = `${tenant}/${uuidKey(traceIds, row * 4)}`;
        if (rowKey !== key) {
          if (key !== '') this.#countTrace(trace, spans);
          key = rowKey;
          spans = [];
          trace = { tenant, agentNo: agents[row] ?? 0, startedAt: int64At(starts, row) };
        }
        const type = (types[row] ?? 0) | 0;
        if (type === EMPTY) continue;
        spans.push({
          span_id: uuidKey(spanIds, row * 4),
          parent_span_id: type >= TOP ? null : uuidKey(parents, row * 4),
          type: type % TOP,
          node: (nodes[row] ?? 0) | 0,
        });
      }
    }
    if (key !== '') this.#countTrace(trace, spans);
  }

  #countTrace(
    { tenant, agentNo, startedAt }: { tenant: number; agentNo: number; startedAt: number },
    spans: readonly MapSpan[],
  ): void {
    countTrace(this.#agentNode(tenant, agentNo), spans, this.#sums(tenant, hourOf(startedAt)));
  }

  async #takeStored({ from, before }: HourRange): Promise<void> {
    const conditions = ['TRUE'];
    if (from > -Infinity) conditions.push(`hour >= ${from}`);
    if (before < Infinity) conditions.push(`hour < ${before}`);
    const where = conditions.join(' AND ');
    const nodes = this.#connection.chunks(
      `SELECT tenant, hour, node_no, type::INTEGER, sum(spans)::BIGINT, sum(traces)::BIGINT
       FROM ${relation(this.#capture, MAP_NODES, where)} GROUP BY tenant, hour, node_no, type`,
    );
    for await (const chunk of nodes) {
      const columns = [0, 1, 2, 3].map((column) => new Int32Array(chunk.words(column, 4)));
      const [spans, traces] = [chunk.words(4, 8), chunk.words(5, 8)];
      for (let row = 0; row < chunk.rows; row++) {
        const [tenant = 0, hour = 0, node = 0, type = 0] = columns.map((column) => column[row]);
        this.#sums(tenant, hour).node(node, type, -int64At(spans, row), -int64At(traces, row));
      }
    }
    const edges = this.#connection.chunks(
      `SELECT tenant, hour, source_no, target_no, sum(spans)::BIGINT
       FROM ${relation(this.#capture, MAP_EDGES, where)} GROUP BY tenant, hour, source_no, target_no`,
    );
    for await (const chunk of edges) {
      const columns = [0, 1, 2, 3].map((column) => new Int32Array(chunk.words(column, 4)));
      const spans = chunk.words(4, 8);
      for (let row = 0; row < chunk.rows; row++) {
        const [tenant = 0, hour = 0, source = 0, target = 0] = columns.map((column) => column[row]);
        this.#sums(tenant, hour).edge(source, target, -int64At(spans, row));
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

  #sums(tenant: number, hour: number): HourSums {
    const key = `${tenant}/${hour}`;
    const known = this.#hours.get(key);
    if (known !== undefined) return known.sums;
    const sums = new HourSums();
    this.#hours.set(key, { tenant, hour, sums });
    return sums;
  }
}

const NO_ID = "'00000000-0000-0000-0000-000000000000'::UUID";

function isNumbered(correction: SumCorrection): boolean {
  const numbers =
    'node' in correction ? [correction.node.node_no] : [correction.edge.source_no, correction.edge.target_no];
  return numbers.every((number) => number < UNNUMBERED);
}

function inWords(work: RebuildWork, correction: SumCorrection): string {
  const { tenant, hour } = correction;
  const place = `User ${work.userOf(tenant)}, hour ${formatTime(hour * HOUR)}`;
  if ('edge' in correction) {
    const { source_no: source, target_no: target, spans } = correction.edge;
    return `${place}: the edge from ${nameOf(work, source)} to ${nameOf(work, target)} has ${amount(spans, 'span')}.`;
  }
  const { node_no: node, type, spans, traces } = correction.node;
  const amounts = [
    ...(spans === 0 ? [] : [amount(spans, 'span')]),
    ...(traces === 0 ? [] : [amount(traces, 'trace')]),
  ];
  return `${place}: the node ${nameOf(work, node)} of type ${SPAN_TYPES[type] ?? type} has ${amounts.join(' and ')}.`;
}

/** @param lacking how many are to be added; negative: to be taken away */
function amount(lacking: number, noun: string): string {
  const count = Math.abs(lacking);
  return `${count} ${noun}${count === 1 ? '' : 's'} too ${lacking > 0 ? 'few' : 'many'}`;
}

function nameOf({ services, agents }: RebuildWork, node: number): string {
  const name = node >= UNNUMBERED ? (agents.byNumber(node - UNNUMBERED)?.name ?? '') : services.name(node);
  return JSON.stringify(name);
}
