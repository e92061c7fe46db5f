import { serializeJson } from '../../signal/json.js';

/** The parts of a span or a log record that may be long. */
const LONG_PARTS: ReadonlySet<string> = new Set([
  'input_data',
  'output_data',
  'attributes',
  'events',
  'links',
  'scope',
  'resource',
  'metadata',
  'body',
]);
/** Texts are shortened step by step, down to this; then also lists and objects. */
const SHORTEST_TEXT = 64;
const MOST_ENTRIES = 1024;
const STEP = 4;

interface Limits {
  /** Characters of a text. */
  readonly text: number;
  /** Entries of a list or an object. */
  readonly entries: number;
}

/**
 * Shortens all parts of a span or log record to a maximum size in bytes of JSON. Shortened parts keep their structure.
 *
 * @param record in its serialized form
 * @returns the record, with `is_truncated`
 */
export function shortened(record: object, maxBytes: number): object {
  let isTruncated = false;
  const parts = Object.entries(record).map(([name, value]: [string, unknown]) => {
    if (!LONG_PARTS.has(name) || value === null || bytesOf(value) <= maxBytes) return [name, value] as const;
    isTruncated = true;
    return [name, fitted(value, maxBytes)] as const;
  });
  return { ...Object.fromEntries(parts), is_truncated: isTruncated };
}

/** @returns null if not even one entry of each level fits */
function fitted(value: unknown, maxBytes: number): unknown {
  for (let text = maxBytes; text >= SHORTEST_TEXT; text = Math.floor(text / STEP)) {
    const short = cut(value, { text, entries: Infinity });
    if (bytesOf(short) <= maxBytes) return short;
  }
  for (let entries = MOST_ENTRIES; entries >= 1; entries = Math.floor(entries / STEP)) {
    const short = cut(value, { text: SHORTEST_TEXT, entries });
    if (bytesOf(short) <= maxBytes) return short;
  }
  return null;
}

function cut(value: unknown, limits: Limits): unknown {
  const { text, entries } = limits;
  if (typeof value === 'string') return value.length > text ? `${wellFormed(value.slice(0, text))}…` : value;
  if (Array.isArray(value)) return value.slice(0, entries).map((item: unknown) => cut(item, limits));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, entries)
      .map(([key, item]) => [key, cut(item, limits)]),
  );
}

/** Removes half of a surrogate pair at the end. */
function wellFormed(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text;
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(serializeJson(value));
}
