import { itemAt } from './checked.js';
import { AGENT_NODE, NO_NODE } from './service-map.js';
import { NO_PARENT, parentPositions } from './parent-positions.js';
import { gradeOf, NO_GRADE, type Grade } from './span-grade.js';
import { SPAN_TYPES, type RunStatus, type SpanType } from './span.js';
import type { Micros } from './time.js';
import { MICROS_PER_HOUR } from './time-units.js';

/** The fields of a span that the service map needs. */
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
  /** The position of each span's parent, or {@link NO_PARENT}. */
  readonly parents: ArrayLike<number>;
}

/** The spans of a trace, by their positions, where it is known who calls them. */
export interface CalledSpans {
  readonly length: number;
  /** A position in `SPAN_TYPES`. */
  readonly type: (span: number) => number;
  /** The number of its node, {@link NO_NODE} or {@link AGENT_NODE}. */
  readonly node: (span: number) => number;
  /** The number of the node that calls it, {@link AGENT_NODE}, or {@link NO_NODE} if none does. */
  readonly caller: (span: number) => number;
  /** Asked for spans that have a node. */
  readonly grade: (span: number) => Grade;
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
/** Stands for the caller of a span without any ancestor in the trace that has a node. */
const TOP = -3;

/** The hour in which a trace counts, in hours since 1970. */
export function hourOf(startedAt: Micros): number {
  return Math.floor(startedAt / MICROS_PER_HOUR);
}

/**
 * What one trace contributes to the service map: a node for its agent, one for each span that has one, and an edge to each of
 * those from its nearest ancestor with a node. A span without such an ancestor hangs under the trace's agent if no span of the
 * trace is an agent's. Linear in the number of spans.
 *
 * @param agent the number of the node of the trace's agent
 */
export function countTrace(agent: number, spans: readonly MapSpan[], counter: MapCounter): void {
  const nodes = spans.map(({ node }) => node);
  const callers = callersOf({
    types: spans.map(({ type }) => type),
    nodes,
    parents: parentPositions(spans),
  });
  const called: CalledSpans = {
    length: spans.length,
    type: (span) => itemAt(spans, span).type,
    node: (span) => itemAt(nodes, span),
    caller: (span) => itemAt(callers, span),
    grade: (span) => {
      const { status, started_at, ended_at } = itemAt(spans, span);
      return gradeOf(status, started_at, ended_at);
    },
  };
  countCalled(agent, called, counter);
}

/** The second half of {@link countTrace}, where callers are known. */
export function countCalled(agent: number, spans: CalledSpans, counter: MapCounter): void {
  counter.node(agent, AGENT_TYPE, NO_GRADE, 0, 1);
  for (let i = 0; i < spans.length; i++) {
    const own = spans.node(i);
    if (own === NO_NODE) continue;
    const node = own === AGENT_NODE ? agent : own;
    const grade = spans.grade(i);
    counter.node(node, spans.type(i), grade, 1, 0);
    const caller = spans.caller(i);
    if (caller === NO_NODE) continue;
    const source = caller === AGENT_NODE ? agent : caller;
    if (source !== node) counter.edge(source, node, grade, 1);
  }
}

/** The first half: the node that calls each span, {@link AGENT_NODE} for the agent's, {@link NO_NODE} if none does. */
export function callersOf(tree: MapTree): number[] {
  const callers = new Callers(tree);
  // The caller of a top span: none if an agent has its own span.
  const above = includes(tree.types, AGENT_TYPE) ? NO_NODE : AGENT_NODE;
  return Array.from(tree.nodes, (_, span) => {
    const caller = callers.of(span);
    return caller === TOP ? above : caller;
  });
}

function includes(list: ArrayLike<number>, wanted: number): boolean {
  for (let i = 0; i < list.length; i++) if (list[i] === wanted) return true;
  return false;
}

/** Finds the nearest ancestor with a node, caching the results. */
class Callers {
  readonly #nodes: ArrayLike<number>;
  readonly #parents: ArrayLike<number>;
  /** What lies above a span without a node. */
  #above: Map<number, number> | null = null;

  constructor({ nodes, parents }: Omit<MapTree, 'types'>) {
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
      // Visited spans are cached, so a cycle ends here.
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
