import type { Micros } from '../../../signal/time.js';
import { countTrace, hourOf, type MapSpan } from '../../../signal/trace-map.js';
import type { IncomingBatch } from '../changes/incoming-batch.js';
import type { Rows } from '../changes/rows.js';
import type { HourSums } from '../../../signal/hour-sums.js';
import type { Services } from './services.js';
import { sumRows, TenantHours } from './tenant-hours.js';

/** What the map needs to know of a trace. */
interface MappedTrace {
  readonly tenant: number;
  readonly agent: string;
  readonly startedAt: Micros;
  readonly spans: readonly MapSpan[];
}

const NODE_FIELDS = 6;
const EDGE_FIELDS = 5;

/** What the commit under way changes in the sums of the service map. */
export class MapChanges {
  readonly #services: Services;
  readonly #hours = new TenantHours();

  constructor(services: Services) {
    this.#services = services;
  }

  /** Adds what a whole trace contributes, or takes it away. */
  add(tenant: number, hour: number, sums: HourSums, sign: 1 | -1): void {
    this.#hours.sums(tenant, hour).add(sums, sign);
  }

  /** Adds what a trace contributes that is new as a whole. */
  addNew(trace: MappedTrace): void {
    this.#count(trace, this.#hours.sums(trace.tenant, hourOf(trace.startedAt)));
  }

  /** Adds the sums that were derived from a batch whose traces are all new as a whole. */
  addBatch(batch: IncomingBatch): void {
    if (batch.map === null) return;
    const { tenant } = batch;
    const { nodeSums, edgeSums } = batch.map;
    for (let i = 0; i < nodeSums.length; i += NODE_FIELDS) {
      const [hour = 0, name = 0, type = 0, spans = 0, traces = 0, grade = 0] = nodeSums.subarray(
        i,
        i + NODE_FIELDS,
      );
      this.#hours.sums(tenant, hour).node(batch.nodeNumber(name), type, grade, spans, traces);
    }
    for (let i = 0; i < edgeSums.length; i += EDGE_FIELDS) {
      const [hour = 0, source = 0, target = 0, spans = 0, grade = 0] = edgeSums.subarray(i, i + EDGE_FIELDS);
      const sums = this.#hours.sums(tenant, hour);
      sums.edge(batch.nodeNumber(source), batch.nodeNumber(target), grade, spans);
    }
  }

  rows(seq: number): Rows[] {
    return sumRows(seq, this.#hours.parts());
  }

  clear(): void {
    this.#hours.clear();
  }

  #count({ tenant, agent, spans }: MappedTrace, sums: HourSums): void {
    countTrace(this.#services.number(tenant, agent), spans, sums);
  }
}
