import { awaitsRoot, timedOut } from '../../runs/rules/following-header.js';
import { mapContribution, RunState } from '../../runs/run-state.js';
import type { HeaderRow, SpanRow } from '../../runs/rules/rows.js';
import { factsOf, keyOf, type SpanFacts } from '../../runs/rules/span-facts.js';
import { itemAt, invariant } from '../../signal/checked.js';
import { NO_NODE } from '../../signal/service-map.js';
import { SPAN_TYPES, type SpanRecord, type SpanType } from '../../signal/span.js';
import type { TracesBatch } from '../../signal/batch.js';
import { IncomingBatch } from '../../storage/incoming/incoming-batch.js';
import { headerAt, payloadAt } from '../../storage/incoming/incoming-rows.js';
import { TracesEncoder } from '../../storage/incoming/encode-traces.js';

const TENANT = 1;

/** A run as a store would keep it. */
export interface StoredRun {
  readonly traceId: string;
  readonly header: HeaderRow;
  readonly agent: string;
  readonly spans: readonly StoredSpan[];
  readonly map: RunMap;
}

export interface StoredSpan {
  readonly row: SpanRow;
  /** Facts that the run's header depends on. The ids are keys. */
  readonly facts: SpanFacts;
  /** The span's records, in order: usually one, two if it was also sent before it ended. */
  readonly records: readonly SpanRecord[];
}

/** The part of the service map that a run adds. */
export interface RunMap {
  readonly nodes: readonly { readonly name: string; readonly type: SpanType }[];
  readonly edges: readonly { readonly source: string; readonly target: string; readonly spans: number }[];
}

/** Builds runs from batches with the same rules as a store. */
export class StoredRuns {
  readonly #encoder = new TracesEncoder();
  readonly #names = new Names();
  readonly #runs = new Map<
    string,
    { readonly state: RunState; readonly records: Map<string, SpanRecord[]> }
  >();

  add(batch: TracesBatch): void {
    // The time of arrival does not affect the result.
    const { map, ...rows } = this.#encoder.encode(batch, 0);
    const incoming = new IncomingBatch({ ...rows, tenant: TENANT, wanted: [], ...(map && { map }) });
    incoming.numberNodes(this.#names);
    batch.items.forEach(({ trace, spans }, index) => {
      const { state, records } = this.#run(trace.trace_id, incoming, index);
      for (let row = incoming.start(index), i = 0; row < incoming.end(index); row++, i++) {
        const sent = incoming.span(row);
        const node = incoming.nodeAt(row);
        const before = state.find(keyOf(sent.span_id))?.node ?? NO_NODE;
        const isNews = state.applySpan(sent, payloadAt(incoming, row, incoming.start(index)), {
          incoming: () => node,
          completed: () => (node === NO_NODE ? before : node),
        });
        if (!isNews) continue;
        const known = records.get(sent.span_id) ?? [];
        known.push(itemAt(spans, i));
        records.set(sent.span_id, known);
      }
    });
  }

  /** The runs after all batches, earliest first. */
  finish(): readonly StoredRun[] {
    return [...this.#runs]
      .map(([traceId, { state, records }]) => {
        for (const one of state.countsRewrites()) state.rewriteCounts(one);
        const rows = state.finish(1).spans.map(({ row }) => invariant(row, 'row of a span'));
        const spans = rows.map((row) => ({
          row,
          facts: invariant(state.spans.get(keyOf(row.span_id)), 'state of a span'),
          records: records.get(row.span_id) ?? [],
        }));
        // Nothing more will come.
        const header = awaitsRoot(state.header) ? timedOut(state.header, state.spans) : state.header;
        return { traceId, header, agent: state.agent, spans, map: this.#mapOf(state) };
      })
      .sort((a, b) => a.header.started_at - b.header.started_at || (a.traceId < b.traceId ? -1 : 1));
  }

  #run(traceId: string, batch: IncomingBatch, index: number) {
    const known = this.#runs.get(traceId);
    const named = headerAt(batch, index);
    if (known !== undefined) {
      const facts: SpanFacts[] = [];
      for (let row = batch.start(index); row < batch.end(index); row++)
        facts.push(factsOf(batch.span(row), batch.nodeAt(row)));
      known.state.applyHeader(named, facts, batch.receivedAt);
      return known;
    }
    const { receivedAt: lastSeenAt, map } = batch;
    const isNew = { lastSeenAt, isStored: false, isMapped: map !== null, hasEnded: false };
    const made = { state: new RunState(named, isNew, Infinity), records: new Map<string, SpanRecord[]>() };
    this.#runs.set(traceId, made);
    return made;
  }

  #mapOf(state: RunState): RunMap {
    const found = mapContribution(state, (agent) => this.#names.number(TENANT, agent));
    if (found === null) return { nodes: [], edges: [] };
    const { sums } = found;
    const name = (number: number): string => this.#names.name(number);
    const nodes = new Map<string, RunMap['nodes'][number]>();
    for (const { node_no, type } of sums.nodes())
      nodes.set(`${node_no}/${type}`, { name: name(node_no), type: itemAt(SPAN_TYPES, type) });
    const edges = new Map<string, RunMap['edges'][number]>();
    for (const { source_no, target_no, spans: count } of sums.edges()) {
      const key = `${source_no}/${target_no}`;
      const known = edges.get(key)?.spans ?? 0;
      edges.set(key, { source: name(source_no), target: name(target_no), spans: known + count });
    }
    return { nodes: [...nodes.values()], edges: [...edges.values()] };
  }
}

/** Numbers for the names of nodes, from 1. */
class Names {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [];

  number(_tenant: number, name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = this.#names.push(name);
    this.#numbers.set(name, number);
    return number;
  }

  name(number: number): string {
    return itemAt(this.#names, number - 1);
  }
}
