import type { JsonObject } from '../../../signal/attributes.js';
import { itemAt } from '../../../signal/checked.js';
import { AGENT_NODE, NO_NODE } from '../../../signal/service-map.js';
import { AGENT, serviceNodeOf } from '../../../signal/service-node.js';
import { SPAN_TYPES } from '../../../signal/span.js';
import { TYPE_CODES } from '../../../signal/trace-map.js';
import { NO_PAYLOAD, type Payload } from '../../../runs/rules/payload.js';
import type { SpanRow } from '../../../runs/rules/rows.js';
import type { Services } from './services.js';

/** Codes of span types whose node may depend on the metadata; for the last two also on the input. */
const NEED_PAYLOAD: ReadonlySet<number> = new Set([TYPE_CODES.agent, TYPE_CODES.http, TYPE_CODES.db]);
const NEED_INPUT: ReadonlySet<number> = new Set([TYPE_CODES.http, TYPE_CODES.db]);

/** The columns of a span that determine its node, in addition to the payload. */
export type NamedRow = Pick<SpanRow, 'type' | 'name' | 'map_hint'>;

/** Whether the node may depend on the payload, because the span has no hint. */
export function needsPayload({ type, map_hint }: Pick<NamedRow, 'type' | 'map_hint'>): boolean {
  return map_hint === null && NEED_PAYLOAD.has(type);
}

/**
 * The node of a stored span, derived from its stored data.
 *
 * @param payload the payload of the span
 */
export function nodeOfStored(services: Services, tenant: number, span: NamedRow, payload: Payload): number {
  return nodeNumber(span, payload, (name) => services.number(tenant, name));
}

/** Like {@link nodeOfStored}, but returns undefined for a new name instead of assigning a number. */
export function knownNodeOfStored(
  services: Services,
  tenant: number,
  span: NamedRow,
  payload: Payload,
): number | undefined {
  return nodeNumber(span, payload, (name) => services.find(tenant, name));
}

function nodeNumber<Found extends number | undefined>(
  span: NamedRow,
  payload: Payload,
  numberOf: (name: string) => Found,
): Found | typeof NO_NODE | typeof AGENT_NODE {
  const { type, name, map_hint } = span;
  // Payloads can be long, so only parts that affect the node are read.
  const { input, metadata } = needsPayload(span) ? payload : NO_PAYLOAD;
  const node = serviceNodeOf({
    type: itemAt(SPAN_TYPES, type),
    name,
    map_hint,
    input_data: NEED_INPUT.has(type) ? parsed(input) : null,
    metadata: parsed(metadata),
  });
  if (node === null) return NO_NODE;
  return node === AGENT ? AGENT_NODE : numberOf(node);
}

function parsed(json: Uint8Array | null): JsonObject | null {
  if (json === null) return null;
  return JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.length).toString('utf8')) as JsonObject;
}
