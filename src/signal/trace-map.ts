import { itemAt } from './checked.js';
import { AGENT_NODE, NO_NODE } from './service-map.js';
import { NO_PARENT, parentPositions } from './parent-positions.js';
import { gradeOf, NO_GRADE, type Grade } from './span-grade.js';
import { SPAN_TYPES, type RunStatus, type SpanType } from './span.js';
import type { Micros } from './time.js';
import { MICROS_PER_HOUR } from './time-units.js';

/** What the service map has to know of a span. */
export interface MapSpan {
  /** Ids in any form in which equal ids are equal texts. */
  readonly span_id: string;
  readonly parent_span_id: string | null;
  /** A position in `SPAN_TYPES`. */
  readonly type: number;
  /** The number of its node, {@link NO_NODE} or {@link AGENT_NODE}. */
  readonly node: number;
  readonly status: RunStatus;
  readonly started_at: Micros;
  readonly ended_at: Micros | null;
}

/** The spans of a trace as columns. */
export interface MapTree {
  /** Positions in `SPAN_TYPES`. */
  readonly types: ArrayLike<number>;
  /** The number of each span's node, {@link NO_NODE} or {@link AGENT_NODE}. */
  readonly nodes: ArrayLike<number>;
  /** Of each span that has a node. */
  readonly grades: ArrayLike<Grade>;
  /** The position of each span's parent, or {@link NO_PARENT}. */
  readonly parents: ArrayLike<number>;
}

/** Gets what a trace contributes to the map. */
export interface MapCounter {
  /**
   * @param type a position in `SPAN_TYPES`
   * @param grade of the spans
   * @param spans with that node, type and grade
   * @param traces whose agent the node is
   */
  node(node: number, type: number, grade: Grade, spans: number, traces: number): void;
  /** @param grade of the called spans */
  edge(source: number, target: number, grade: Grade, spans: number): void;
}

/** The position of each type in `SPAN_TYPES`. */
export const TYPE_CODES = Object.fromEntries(SPAN_TYPES.map((type, code) => [type, code])) as Readonly<
  Record<SpanType, number>
>;
const AGENT_TYPE = TYPE_CODES.agent;
/** Microseconds. */
/** Stands for the caller of a span without any ancestor in the trace that has a node. */
const TOP = -3;

/** The hour in which a trace counts, in hours since 1970. */
export function hourOf(startedAt: Micros): number {
  return Math.floor(startedAt / MICROS_PER_HOUR);
}

/**
 * What one trace contributes to the service map: a node for its agent, one for each span that has one, and an edge to each of
 * those from its nearest ancestor with a node. A span without such an ancestor hangs under the trace's agent if no span of the
 * trace is an agent's. Linear in the number of spans, whatever their tree.
 *
 * @param agent the number of the node of the trace's agent
 */
export function countTrace(agent: number, spans: readonly MapSpan[], counter: MapCounter): void {
  const tree = {
    types: spans.map(({ type }) => type),
    nodes: spans.map(({ node }) => node),
    grades: spans.map(mapGrade),
    parents: parentPositions(spans),
  };
  countTree(agent, tree, counter);
}

/** The grade of a span that has a node. */
export function mapGrade({
  node,
  status,
  started_at,
  ended_at,
}: Omit<MapSpan, 'span_id' | 'type' | 'parent_span_id'>): Grade {
  return node === NO_NODE ? NO_GRADE : gradeOf(status, started_at, ended_at);
}

/** {@link countTrace} for columns. */
export function countTree(agent: number, tree: MapTree, counter: MapCounter): void {
  counter.node(agent, AGENT_TYPE, NO_GRADE, 0, 1);
  const { types, nodes, grades } = tree;
  const callers = new Callers(tree);
  const hasAgentSpan = includes(types, AGENT_TYPE);
  for (let i = 0; i < nodes.length; i++) {
    const own = itemAt(nodes, i);
    if (own === NO_NODE) continue;
    const node = own === AGENT_NODE ? agent : own;
    const grade = itemAt(grades, i);
    counter.node(node, itemAt(types, i), grade, 1, 0);
    const caller = callers.of(i);
    if (caller === TOP && hasAgentSpan) continue;
    const source = caller === TOP || caller === AGENT_NODE ? agent : caller;
    if (source !== node) counter.edge(source, node, grade, 1);
  }
}

function includes(list: ArrayLike<number>, wanted: number): boolean {
  for (let i = 0; i < list.length; i++) if (list[i] === wanted) return true;
  return false;
}

/** Finds the nearest ancestor with a node, remembering what it found on the way. */
class Callers {
  readonly #nodes: ArrayLike<number>;
  readonly #parents: ArrayLike<number>;
  /** What lies above a span without a node. */
  #above: Map<number, number> | null = null;

  constructor({ nodes, parents }: MapTree) {
    this.#nodes = nodes;
    this.#parents = parents;
  }

  /** @returns the node, or {@link TOP} */
  of(span: number): number {
    const parent = itemAt(this.#parents, span);
    if (parent === NO_PARENT) return TOP;
    const node = itemAt(this.#nodes, parent);
    return node === NO_NODE ? this.#passing(parent) : node;
  }

  /** @param first a span without a node */
  #passing(first: number): number {
    const above = (this.#above ??= new Map<number, number>());
    const passed: number[] = [];
    let found = TOP;
    for (let span = first; span !== NO_PARENT; span = itemAt(this.#parents, span)) {
      const node = itemAt(this.#nodes, span);
      // What was visited before is remembered, so a circle ends here.
      const known = node === NO_NODE ? above.get(span) : node;
      if (known !== undefined) {
        found = known;
        break;
      }
      above.set(span, TOP);
      passed.push(span);
    }
    for (const span of passed) above.set(span, found);
    return found;
  }
}
