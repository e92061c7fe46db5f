import { AGENT_NODE, NO_NODE } from './service-map.js';
import { SPAN_TYPES, type SpanType } from './span.js';
import type { Micros } from './time.js';

/** What the service map needs to know of a span. */
export interface MapSpan {
  /** The ids in any form in which equal ids are equal texts. */
  readonly span_id: string;
  readonly parent_span_id: string | null;
  /** A position in `SPAN_TYPES`. */
  readonly type: number;
  /** The number of its node, {@link NO_NODE} or {@link AGENT_NODE}. */
  readonly node: number;
}

/** Who is told what a trace adds to the map. */
export interface MapCounter {
  /**
   * @param type a position in `SPAN_TYPES`
   * @param spans of that node and type
   * @param traces of which the node is the agent
   */
  node(node: number, type: number, spans: number, traces: number): void;
  edge(source: number, target: number, spans: number): void;
}

/** The position of each type in `SPAN_TYPES`. */
export const TYPE_CODES = Object.fromEntries(SPAN_TYPES.map((type, code) => [type, code])) as Readonly<
  Record<SpanType, number>
>;
const AGENT_TYPE = TYPE_CODES.agent;
/** Microseconds. */
const HOUR = 3_600_000_000;
/** Of a span of which no ancestor in the trace has a node. */
const TOP = -3;

/** The hour in which a trace counts, in hours since 1970. */
export function hourOf(startedAt: Micros): number {
  return Math.floor(startedAt / HOUR);
}

/**
 * What one trace adds to the service map (decisions §4): a node for its agent, one for each span that has one, and an
 * edge to each of those from its nearest ancestor with a node. A span without such an ancestor hangs under the trace's
 * agent if no span of the trace is an agent's. Linear in the number of spans, whatever their tree.
 *
 * @param agent the number of the node of the trace's agent
 */
export function countTrace(agent: number, spans: readonly MapSpan[], counter: MapCounter): void {
  counter.node(agent, AGENT_TYPE, 0, 1);
  const callers = new Callers(spans);
  const hasAgentSpan = spans.some(({ type }) => type === AGENT_TYPE);
  const resolved = (node: number): number => (node === AGENT_NODE ? agent : node);
  for (const span of spans) {
    if (span.node === NO_NODE) continue;
    const node = resolved(span.node);
    counter.node(node, span.type, 1, 0);
    const caller = callers.of(span);
    if (caller === TOP && hasAgentSpan) continue;
    const source = caller === TOP ? agent : resolved(caller);
    if (source !== node) counter.edge(source, node, 1);
  }
}

/** Finds the nearest ancestor with a node, remembering what it found on the way. */
class Callers {
  readonly #byId = new Map<string, MapSpan>();
  /** What lies above a span without a node. */
  readonly #above = new Map<MapSpan, number>();

  constructor(spans: readonly MapSpan[]) {
    for (const span of spans) this.#byId.set(span.span_id, span);
  }

  /** @returns the node, or {@link TOP} */
  of(span: MapSpan): number {
    const passed: MapSpan[] = [];
    let found = TOP;
    for (let parent = this.#parentOf(span); parent !== undefined; parent = this.#parentOf(parent)) {
      // What was passed before is in the memory, too: so a circle ends here.
      const known = parent.node === NO_NODE ? this.#above.get(parent) : parent.node;
      if (known !== undefined) {
        found = known;
        break;
      }
      this.#above.set(parent, TOP);
      passed.push(parent);
    }
    for (const between of passed) this.#above.set(between, found);
    return found;
  }

  #parentOf({ parent_span_id: id }: MapSpan): MapSpan | undefined {
    return id === null ? undefined : this.#byId.get(id);
  }
}
