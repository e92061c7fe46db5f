import type { Position } from '../../config/config-error.js';
import type { ConfigNode } from '../../config/config-node.js';
import { compilePattern } from '../../expressions/patterns.js';
import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { serializeJson } from '../../signal/json.js';
import { parseTime } from '../../signal/time.js';

export interface Difference {
  /** Position of the expectation in the file. */
  readonly position: Position;
  /** `traces[0].spans[1].name` */
  readonly path: string;
  readonly expected: string;
  readonly received: string;
}

const LONGEST_SHOWN = 400;

/**
 * Compares actual with expected values. Only the keys of an expected map are compared, but all elements of a list; null also
 * matches a missing value, `/…/` is a pattern, and times are equal in any notation.
 */
export function differences(
  expected: ConfigNode,
  received: JsonValue | undefined,
  path: string,
): readonly Difference[] {
  const differs = (wanted: string, got = shownValue(received)): readonly Difference[] => [
    { position: expected.position, path, expected: wanted, received: got },
  ];
  switch (expected.kind) {
    case 'map': {
      if (!isObject(received)) return differs('a map');
      return [...expected.entries].flatMap(([key, { node }]) =>
        differences(node, Object.hasOwn(received, key) ? received[key] : undefined, join(path, key)),
      );
    }
    case 'list': {
      if (!Array.isArray(received)) return differs('a list');
      const found = expected.items.flatMap((item, index) =>
        index < received.length ? differences(item, received[index], `${path}[${index}]`) : [],
      );
      if (expected.items.length === received.length) return found;
      return [
        ...differs(`${expected.items.length} in the list`, `${received.length}: ${shownValue(received)}`),
        ...found,
      ];
    }
    case 'scalar':
      return isAsExpected(expected.value, received) ? [] : differs(shownValue(expected.value));
  }
}

function isAsExpected(expected: string | number | boolean | null, received: JsonValue | undefined): boolean {
  if (expected === null) return received === null || received === undefined;
  if (typeof expected === 'number')
    return typeof received === 'bigint' ? Number(received) === expected : received === expected;
  if (typeof expected === 'boolean' || typeof received !== 'string') return received === expected;
  const pattern = /^\/(.+)\/$/s.exec(expected)?.[1];
  if (received === expected) return true;
  if (pattern !== undefined) return compilePattern(pattern).test(received);
  return isTime(expected) && isTime(received) && parseTime(expected) === parseTime(received);
}

function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT/.test(text) && parseTime(text) !== undefined;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function join(path: string, key: string): string {
  const plain = /^[A-Za-z_][\w-]*$/.test(key);
  return plain ? `${path === '' ? '' : `${path}.`}${key}` : `${path}[${JSON.stringify(key)}]`;
}

/** Formats a value for a difference: JSON, limited to one line. */
export function shownValue(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing';
  const text = serializeJson(value);
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN).toWellFormed()}…` : text;
}
