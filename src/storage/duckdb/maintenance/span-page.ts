import { NO_PAYLOAD, payloadsOf, type Payload } from '../../../runs/rules/payload.js';
import { runKey } from '../../../runs/run-key.js';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { wordAt } from '../../../signal/checked.js';
import { AGENT_NODE, NO_NODE } from '../../../signal/service-map.js';
import { TYPE_CODES } from '../../../signal/trace-map.js';
import { PAYLOADS, PAYLOAD_LINES, SPANS, TRACES } from '../../schema/tables.js';
import { narrowed, type OfCommits } from '../segments/commit-ranges.js';
import type { Connection } from '../files/connection.js';
import { int64At } from '../files/plain-rows.js';
import { newest, relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import type { RemapChange } from '../write/change.js';
import { within, type CommitPage } from './commit-pages.js';
import { knownNodeOfStored, needsPayload } from '../write/node-of-stored.js';
import { nameTrace } from './rebuild-findings.js';
import type { RebuildWork } from './rebuild-work.js';
import { payloadParts } from './payload-parts.js';
import { placeKey, SPAN_COLUMNS, SpanRows, type OpenSpan, type OpenSpans } from './span-rows.js';

/** Longest time without yielding, because commits wait meanwhile. */
const SLICE_MS = 4;
const MAKES_NODES = `(type <> ${TYPE_CODES.llm} AND (type <> ${TYPE_CODES.tool} OR map_hint IS NOT NULL))`;

/** The spans of some commits. */
export class SpanPage {
  readonly #work: RebuildWork;
  readonly #connection: Connection;
  readonly #capture: Capture;
  readonly #page: CommitPage;
  readonly #differing = new Map<string, RemapChange>();
  #sliceEnd = 0;

  constructor(work: RebuildWork, connection: Connection, capture: Capture, page: CommitPage) {
    this.#work = work;
    this.#connection = connection;
    this.#capture = capture;
    this.#page = page;
  }

  /** @returns the traces of spans whose stored node differs from the derived one */
  async check(): Promise<readonly RemapChange[]> {
    this.#sliceEnd = performance.now() + SLICE_MS;
    const open = await this.#checkRows();
    if (open.size > 0) await this.#checkPayloads(open);
    // The remaining spans have no payload.
    for (const lines of open.values()) for (const span of lines.values()) this.#compare(span, NO_PAYLOAD);
    return [...this.#differing.values()];
  }

  /** Compares the spans whose node depends on type and name only. @returns the others */
  async #checkRows(): Promise<OpenSpans> {
    const open: OpenSpans = new Map();
    // Spans of types without a node are read only if they have a stored node.
    const where = narrowed(within(this.#page), `(${MAKES_NODES} OR node_no <> ${NO_NODE})`);
    const unmapped = newest(
      this.#capture,
      TRACES,
      `NOT is_mapped AND first_seq <= ${this.#page.last} AND last_seq >= ${this.#page.first}`,
    );
    const chunks = this.#connection.wholeChunks(
      `SELECT ${SPAN_COLUMNS} FROM ${newest(this.#capture, SPANS, where)} s
       WHERE NOT EXISTS (SELECT 1 FROM ${unmapped} u WHERE u.tenant = s.tenant AND u.trace_id = s.trace_id)`,
    );
    for await (const chunk of chunks) {
      this.#work.throwIfStopped();
      const rows = new SpanRows(chunk);
      for (let row = 0; row < rows.length; row++) {
        if (needsPayload(rows.named(row))) rows.open(row, open);
        else this.#compare({ rows, row }, NO_PAYLOAD);
      }
      await this.#breathe();
    }
    return open;
  }

  /** Compares spans with a payload, and removes them from `open`. */
  async #checkPayloads(open: OpenSpans): Promise<void> {
    for (const part of await payloadParts(this.#connection, this.#capture, within(this.#page)))
      await this.#checkPart(open, part);
  }

  async #checkPart(open: OpenSpans, part: OfCommits): Promise<void> {
    const chunks = this.#connection.wholeChunks(
      `SELECT seq, tenant, trace_id, first_line, ${PAYLOAD_LINES} FROM ${relation(this.#capture, PAYLOADS, part)}`,
    );
    for await (const chunk of chunks) {
      this.#work.throwIfStopped();
      const seqs = chunk.words(0, 8);
      const tenants = chunk.words(1, 4);
      const traceIds = chunk.words(2, 16);
      const firstLines = chunk.words(3, 4);
      for (let row = 0; row < chunk.rows; row++) {
        const lines = open.get(placeKey(int64At(seqs, row), wordAt(tenants, row), traceIds, row));
        if (lines === undefined || lines.size === 0) continue;
        for (const [i, payload] of payloadsOf(chunk.bytes(4, row)).entries()) {
          const line = wordAt(firstLines, row) + i;
          const span = lines.get(line);
          if (span === undefined) continue;
          lines.delete(line);
          this.#compare(span, payload);
        }
        await this.#breathe();
      }
    }
  }

  #compare({ rows, row }: OpenSpan, payload: Payload): void {
    const { services, findings } = this.#work;
    const tenant = rows.tenant(row);
    const derived = knownNodeOfStored(services, tenant, rows.named(row), payload);
    const stored = rows.node(row);
    if (derived === stored) return;
    findings.add('spans', tenant, () => {
      const [is, shouldBe] = [stored, derived].map((node) => nameNode(this.#work, node));
      return `${nameTrace(rows.traceIds, row * 4)}, span ${rows.spanId(row)}: its node is ${String(is)}, and derived ${String(shouldBe)}.`;
    });
    this.#differing.set(runKey(tenant, rows.traceIds, row * 4), {
      kind: 'remap',
      tenant,
      words: rows.traceIds.slice(row * 4, row * 4 + 4),
    });
  }

  /** Yields to other work from time to time. */
  async #breathe(): Promise<void> {
    if (performance.now() < this.#sliceEnd) return;
    await yieldToOthers();
    this.#sliceEnd = performance.now() + SLICE_MS;
  }
}

function nameNode({ services }: RebuildWork, node: number | undefined): string {
  if (node === undefined) return 'one that is not in the map';
  if (node === NO_NODE) return 'none';
  if (node === AGENT_NODE) return "the trace's agent";
  return JSON.stringify(services.name(node));
}
