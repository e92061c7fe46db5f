import type { BatchChange } from './run-change.js';
import { NodeNumbers } from './node-names.js';
import type { Reads } from '../client/reads.js';
import { MessagePlaces, sentTraces, traceKey } from './sent-traces.js';
import { readFacts } from './stored-facts.js';
import { tracesOf } from './run-change.js';

/** How many items of a batch are new, by what is stored now. Another write may bring some of them meanwhile. */
export async function exactItems(reads: Reads, change: BatchChange): Promise<number> {
  const wanted = new Map(tracesOf(change).map((trace) => [traceKey(trace.tenant, trace.traceId), trace]));
  const facts = await readFacts(reads, [...wanted.values()], new Map(), new NodeNumbers());
  const known = new Map(
    facts.map(({ tenant, traceId, messages, spans }) => [
      traceKey(tenant, traceId),
      {
        isThere: messages.some(({ kind }) => kind === 'header'),
        ids: new Set(spans.map(({ row }) => row.span_id)),
      },
    ]),
  );
  let items = 0;
  for (const { tenant, traceId, spans } of sentTraces(change.batch, new MessagePlaces(0))) {
    const trace = known.get(traceKey(tenant, traceId));
    if (trace === undefined) continue;
    if (spans.length === 0 && !trace.isThere) items++;
    trace.isThere = true;
    for (const { row } of spans) {
      if (!trace.ids.has(row.span_id)) items++;
      trace.ids.add(row.span_id);
    }
  }
  return items;
}
