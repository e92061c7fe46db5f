import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { serializeJson } from '../../signal/json.js';
import { setOwn } from './any-value.js';

const FEW_KEYS = 16;
const SERVICE_NAME = 'service_name';
/** The label for an attribute `service_name` if the resource already names a service. */
const OTHER_SERVICE_NAME = 'attributes.service_name';

/**
 * The labels of a metric point: the service and the point's attributes as texts, sorted by key, as they are stored.
 *
 * @param keys scratch memory, overwritten by each call
 */
export function labelsOf(
  attributes: JsonObject,
  serviceName: string,
  keys: string[] = [],
): Record<string, string> {
  keys.length = 0;
  const hasService = serviceName !== '';
  if (hasService) keys.push(SERVICE_NAME);
  for (const key in attributes) if (key !== SERVICE_NAME || !hasService) keys.push(key);
  sort(keys);
  const labels: Record<string, string> = {};
  for (const key of keys) {
    const isService = hasService && key === SERVICE_NAME;
    setOwn(labels, key, isService ? serviceName : textOf(attributes[key] ?? null));
  }
  const other = hasService ? attributes[SERVICE_NAME] : undefined;
  if (other !== undefined) labels[OTHER_SERVICE_NAME] = textOf(other);
  return labels;
}

/** Sorts the few keys of a point faster than `Array.sort`. */
function sort(keys: string[]): void {
  if (keys.length > FEW_KEYS) {
    keys.sort();
    return;
  }
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i] ?? '';
    let at = i;
    for (; at > 0 && (keys[at - 1] ?? '') > key; at--) keys[at] = keys[at - 1] ?? '';
    keys[at] = key;
  }
}

function textOf(value: JsonValue): string {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  return typeof value === 'object' ? serializeJson(value) : String(value);
}
