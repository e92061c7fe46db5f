import type { JsonObject } from '../../../signal/attributes.js';
import { AGENT_NODE, NO_NODE } from '../../../signal/service-map.js';
import { AGENT, serviceNodeOf } from '../../../signal/service-node.js';
import { SPAN_TYPES } from '../../../signal/span.js';
import type { SpanRow } from '../trace-rows.js';
import type { Services } from './services.js';

const TAB = '\t';

/**
 * The node of a stored span, derived from what is stored.
 *
 * @param payload its line of the payload
 */
export function nodeOfStored(
  services: Services,
  tenant: number,
  { type, name }: Pick<SpanRow, 'type' | 'name'>,
  payload: string,
): number {
  const [input = '', , metadata = ''] = payload.split(TAB);
  const node = serviceNodeOf({
    type: SPAN_TYPES[type] ?? 'custom',
    name,
    input_data: parsed(input),
    metadata: parsed(metadata),
  });
  if (node === null) return NO_NODE;
  return node === AGENT ? AGENT_NODE : services.number(tenant, node);
}

function parsed(json: string): JsonObject | null {
  return json === '' ? null : (JSON.parse(json) as JsonObject);
}
