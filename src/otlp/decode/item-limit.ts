import { MAX_REQUEST_ITEMS, type TelemetrySignal } from '../../signal/batch.js';
import { OtlpDecodeError } from './decode-error.js';
import { BoundedReader } from './protobuf.js';

const BYTES = 2;

/** A level of messages between a request and its items. */
interface Level {
  /** Their plural in an error. */
  readonly noun: string;
  /** The fields that hold them: JSON names and protobuf numbers. */
  readonly fields: Readonly<Record<string, number>>;
}

const LEVELS: Readonly<Record<TelemetrySignal, readonly Level[]>> = {
  traces: [
    { noun: 'resources', fields: { resourceSpans: 1 } },
    { noun: 'scopes', fields: { scopeSpans: 2 } },
    { noun: 'spans', fields: { spans: 2 } },
  ],
  metrics: [
    { noun: 'resources', fields: { resourceMetrics: 1 } },
    { noun: 'scopes', fields: { scopeMetrics: 2 } },
    { noun: 'metrics', fields: { metrics: 2 } },
    {
      noun: 'metrics',
      fields: { gauge: 5, sum: 7, histogram: 9, exponentialHistogram: 10, summary: 11 },
    },
    { noun: 'data points', fields: { dataPoints: 1 } },
  ],
  logs: [
    { noun: 'resources', fields: { resourceLogs: 1 } },
    { noun: 'scopes', fields: { scopeLogs: 2 } },
    { noun: 'log records', fields: { logRecords: 2 } },
  ],
};

/** Counts the messages on each level. */
class ItemCounts {
  readonly levels: readonly Level[];
  readonly #counts: number[];

  constructor(signal: TelemetrySignal) {
    this.levels = LEVELS[signal];
    this.#counts = this.levels.map(() => 0);
  }

  /** @throws OtlpDecodeError if there are too many */
  add(level: number, count: number): void {
    const sum = (this.#counts[level] ?? 0) + count;
    this.#counts[level] = sum;
    if (sum <= MAX_REQUEST_ITEMS) return;
    throw new OtlpDecodeError(
      `has more than ${MAX_REQUEST_ITEMS} ${this.levels[level]?.noun ?? 'items'}; send smaller batches`,
      { isTooLarge: true },
    );
  }
}

/**
 * Refuses a request in protobuf with too many items, empty ones included, before anything is allocated for them: only the tags
 * and lengths of the messages around them are read.
 *
 * @param maxFields as for `decodeProtobuf`
 * @throws OtlpDecodeError for too many items or fields; bytes that are not a request are left to the decoder
 */
export function limitItems(signal: TelemetrySignal, bytes: Uint8Array, maxFields: number): void {
  const reader = new BoundedReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), maxFields);
  const counts = new ItemCounts(signal);
  const numbers = counts.levels.map(({ fields }) => Object.values(fields));
  const walk = (end: number, level: number): void => {
    const fields = numbers[level] ?? [];
    while (reader.pos < end) {
      const tag = reader.tag();
      const [field, type] = [tag >>> 3, tag & 7];
      if (type !== BYTES || !fields.includes(field)) {
        reader.skipType(type, level, field);
        continue;
      }
      counts.add(level, 1);
      const size = reader.size();
      const next = reader.pos + size;
      if (next > end) throw new RangeError('index out of range');
      if (level + 1 < numbers.length) walk(next, level + 1);
      reader.pos = next;
    }
  };
  try {
    walk(bytes.length, 0);
  } catch (error) {
    if (error instanceof OtlpDecodeError) throw error;
  }
}

/**
 * Refuses a parsed OTLP/JSON request with too many items, before any is mapped.
 *
 * @throws OtlpDecodeError for too many items; values that are not a request are left to the decoder
 */
export function limitJsonItems(signal: TelemetrySignal, value: unknown): void {
  const counts = new ItemCounts(signal);
  const names = counts.levels.map(({ fields }) => Object.keys(fields));
  const walk = (message: unknown, level: number): void => {
    if (typeof message !== 'object' || message === null) return;
    for (const name of names[level] ?? []) {
      const held: unknown = (message as Readonly<Record<string, unknown>>)[name];
      const messages: readonly unknown[] = Array.isArray(held) ? held : [held];
      if (held !== undefined) counts.add(level, messages.length);
      if (level + 1 < names.length) for (const child of messages) walk(child, level + 1);
    }
  };
  walk(value, 0);
}
