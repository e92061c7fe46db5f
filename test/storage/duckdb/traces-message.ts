import type { TracesBatch } from '../../../src/signal/batch.js';
import type { Micros } from '../../../src/signal/time.js';
import { TracesEncoder, type TracesMessage } from '../../../src/storage/incoming/encode-traces.js';

const encoder = new TracesEncoder();

/** A batch as the store thread receives it. Prompt versions are their own numbers; without `more` no events are wanted. */
export function tracesMessage(
  tenant: number,
  batch: Pick<TracesBatch, 'items' | 'service_map'>,
  receivedAt: Micros,
  more: Partial<Pick<TracesMessage, 'wanted' | 'counted'>> = {},
): TracesMessage {
  const { named, map, ...rows } = encoder.encode(batch, receivedAt);
  if (map instanceof Promise) throw new Error('the map has to be there');
  const prompts = named && {
    numbers: named.references.map(({ version }) => version),
    spans: named.spans,
  };
  return { ...rows, tenant, wanted: [], ...(map && { map }), ...(prompts && { prompts }), ...more };
}
