import type { JsonObject } from '../../signal/attributes.js';
import { itemAt } from '../../signal/checked.js';
import type { DerivedMap } from '../../signal/service-map.js';
import { gradeOf, type Grade } from '../../signal/span-grade.js';
import { SPAN_TYPES } from '../../signal/span.js';
import { countCalled, TYPE_CODES, type CalledSpans } from '../../signal/trace-map.js';
import type { TraceRecord } from '../../signal/trace.js';
import { nodeTypeOf } from '../../storage/contracts/service-map.js';

interface Sum {
  spans: number;
  errors: number;
}

/**
 * The service map of batches with the names of the API: nodes by id, edges by source and target, each summed over all batches. It
 * lacks data that needs a store, such as parents in earlier batches.
 */
export function shownMap(
  batches: readonly { readonly items: readonly TraceRecord[]; readonly map: DerivedMap }[],
): JsonObject {
  const nodes = new Map<string, Sum & { type: number }>();
  const edges = new Map<string, Sum & { readonly source: string; readonly target: string }>();
  const nodeOf = (id: string, type: number) => {
    const node = nodes.get(id) ?? { type, spans: 0, errors: 0 };
    // If a node has several types, the first in the order of types counts, as in the store.
    node.type = Math.min(node.type, type);
    nodes.set(id, node);
    return node;
  };
  for (const { items, map } of batches) {
    const { names, nodes: nodesOfSpans, callers } = map;
    let first = 0;
    for (const { trace, spans } of items) {
      const at = first;
      first += spans.length;
      const known = names.indexOf(trace.agent);
      const agent = known === -1 ? names.length : known;
      const named = (number: number) => names[number] ?? trace.agent;
      const called: CalledSpans = {
        length: spans.length,
        type: (span) => TYPE_CODES[itemAt(spans, span).type],
        node: (span) => itemAt(nodesOfSpans, at + span),
        caller: (span) => itemAt(callers, at + span),
        grade: (span) => {
          const { status, started_at, ended_at } = itemAt(spans, span);
          return gradeOf(status, started_at, ended_at);
        },
      };
      countCalled(agent, called, {
        node: (node, type, grade, count) => {
          add(nodeOf(named(node), type), grade, count);
        },
        edge: (from, to, grade, count) => {
          const [source, target] = [named(from), named(to)];
          const key = `${source}\n${target}`;
          const edge = edges.get(key) ?? { source, target, spans: 0, errors: 0 };
          edges.set(key, edge);
          add(edge, grade, count);
        },
      });
    }
  }
  return {
    nodes: sorted(nodes).map(([id, { type, spans, errors }]) => ({
      id,
      node_type: nodeTypeOf(itemAt(SPAN_TYPES, type)),
      span_type: itemAt(SPAN_TYPES, type),
      span_count: spans,
      error_count: errors,
    })),
    edges: sorted(edges).map(([, { source, target, spans, errors }]) => ({
      source,
      target,
      weight: spans,
      error_count: errors,
    })),
  };
}

function add(sum: Sum, grade: Grade, count: number): void {
  sum.spans += count;
  // See `span-grade.ts`.
  if (grade % 2 === 1) sum.errors += count;
}

function sorted<S>(sums: ReadonlyMap<string, S>): readonly (readonly [string, S])[] {
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1));
}
