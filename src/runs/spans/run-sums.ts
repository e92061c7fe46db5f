import { AGENT_NODE } from '../../signal/service-map.js';
import { HourSums } from '../../signal/hour-sums.js';
import type { Grade } from '../../signal/span-grade.js';

/** In place of a caller: no ancestor in the trace has a node. */
export const TOP = -3;
/** Shifts numbers of nodes so that they count from 0, including those with a special meaning. */
const SHIFT = 3;
const NODES = 2 ** 26;
const TYPES = 16;

/** The node of a run's agent, and whether any of its spans is an agent's: then a span without a caller hangs under nothing. */
export interface MapAgent {
  readonly node: number;
  readonly hasSpan: boolean;
}

type Counts = Map<number, number>;

/** Sums of the service map, by the grade of the spans, in which the agent of the run has no number yet. */
export class RunSums {
  readonly nodes = new Map<Grade, Counts>();
  readonly calls = new Map<Grade, Counts>();

  addNode(node: number, type: number, grade: Grade, spans: number): void {
    add(this.nodes, grade, (node + SHIFT) * TYPES + type, spans);
  }

  addCall(caller: number, node: number, grade: Grade, spans: number): void {
    add(this.calls, grade, (caller + SHIFT) * NODES + node + SHIFT, spans);
  }

  clear(): void {
    this.nodes.clear();
    this.calls.clear();
  }
}

function add(sums: Map<Grade, Counts>, grade: Grade, key: number, count: number): void {
  let counts = sums.get(grade);
  if (counts === undefined) {
    counts = new Map();
    sums.set(grade, counts);
  }
  const sum = (counts.get(key) ?? 0) + count;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}

/** The sums, where the agent of the run is known. */
export function realized({ nodes, calls }: RunSums, agent: MapAgent): HourSums {
  const sums = new HourSums();
  const numberOf = (node: number): number => (node === AGENT_NODE || node === TOP ? agent.node : node);
  for (const [grade, counts] of nodes) {
    for (const [key, spans] of counts)
      sums.node(numberOf(Math.floor(key / TYPES) - SHIFT), key % TYPES, grade, spans, 0);
  }
  for (const [grade, counts] of calls) {
    for (const [key, spans] of counts) {
      const caller = Math.floor(key / NODES) - SHIFT;
      if (caller === TOP && agent.hasSpan) continue;
      const [source, target] = [numberOf(caller), numberOf((key % NODES) - SHIFT)];
      if (source !== target) sums.edge(source, target, grade, spans);
    }
  }
  return sums;
}
