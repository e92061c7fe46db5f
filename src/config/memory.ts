import { availableParallelism, totalmem } from 'node:os';
import { formatSize, parseSize, sizeBytes } from './size.js';
import type { MemoryShare } from './schema.js';
import { schemasAt, schemasOf, type Schemas } from './schemas-at.js';

/** The memory that this process may use. */
export interface MemoryBudget {
  readonly bytes: number;
  /** Whether it is the limit of a control group; otherwise the memory of the machine. */
  readonly isLimit: boolean;
}

/** The program itself and the libraries that it loads, without a store. */
const PROGRAM_BYTES = 96 * 1024 ** 2;
/** Threads of an embedded store, with their heaps. */
const STORE_BYTES = 64 * 1024 ** 2;

/** An intake thread at rest: up to 75 MiB were measured. */
const INTAKE_THREAD_BYTES = 80 * 1024 ** 2;
/** The heap of an intake thread: a request of 64 MiB with as many fields as are accepted takes about 600 MiB. */
const INTAKE_HEAP_BYTES = 1024 ** 3;
/** All intake threads together; the largest request is smaller as well in a container. */
const INTAKE_HEAP_SHARE = 1 / 4;

/** The limit of the control group, or the memory of the machine if that is less. */
export function memoryBudget(): MemoryBudget {
  const total = totalmem();
  // Without a limit it is 0, or larger than any machine, depending on the version of control groups.
  const limit = process.constrainedMemory();
  return limit > 0 && limit < total ? { bytes: limit, isLimit: true } : { bytes: total, isLimit: false };
}

/** The memory by which defaults are reduced: a machine without a limit keeps the defaults that it always had. */
export function defaultsBudget(): number {
  const { bytes, isLimit } = memoryBudget();
  return isLimit ? bytes : Infinity;
}

/**
 * The schema with the defaults of its sizes reduced to their shares of the memory ({@link MemoryShare}).
 *
 * @returns the same schema if all its defaults fit
 */
export function fitDefaults<Schema>(schema: Schema, memory: number): Schema {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) {
    const items = (schema as readonly unknown[]).map((item) => fitDefaults(item, memory));
    return (items.every((item, index) => item === schema[index]) ? schema : items) as Schema;
  }
  const entries = Object.entries(schema).map(([key, value]): [string, unknown] => [
    key,
    key === 'default' || key === 'enum' || key === 'const' ? value : fitDefaults(value, memory),
  ]);
  const fitted = fittedDefault(schema, memory);
  if (fitted === undefined && entries.every(([key, value]) => value === schema[key as keyof Schema]))
    return schema;
  return { ...Object.fromEntries(entries), ...(fitted !== undefined && { default: fitted }) } as Schema;
}

/** @returns undefined if the default of a schema stays */
function fittedDefault(schema: object, memory: number): string | undefined {
  const { default: most, memoryShare } = schema as { default?: string | number; memoryShare?: MemoryShare };
  if (most === undefined || memoryShare === undefined) return undefined;
  const bytes = Math.max(memory * memoryShare.share, sizeBytes(memoryShare.least));
  return bytes < sizeBytes(most) ? formatSize(bytes) : undefined;
}

/** A setting of the configuration that bounds memory. */
export interface MemorySetting {
  /** `extensions.duckdb.memory_limit` */
  readonly key: string;
  readonly bytes: number;
}

/** The settings with a {@link MemoryShare} in a checked part of the configuration. @param path of the part */
export function memorySettings(
  path: readonly string[],
  value: unknown,
  schema: object,
): readonly MemorySetting[] {
  const settings: MemorySetting[] = [];
  const walk = (at: readonly string[], value: unknown, schemas: Schemas): void => {
    if (typeof value === 'object' && value !== null) {
      for (const [key, child] of Object.entries(value))
        walk([...at, key], child, schemasAt(schemas, key, schema));
    } else if (schemas.some((one) => 'memoryShare' in one)) {
      // An invalid value has an error of its own.
      const bytes = parseSize(value as string | number);
      if (bytes !== undefined) settings.push({ key: at.join('.'), bytes });
    }
  };
  walk(path, value, schemasOf(schema));
  return settings;
}

/** With less memory there are no intake threads by default, and with twice as much there may be two. */
const MEMORY_PER_THREAD = 1024 ** 3;
const MOST_THREADS = 8;

/**
 * The number of intake threads of a configuration.
 *
 * @param configured `auto`: one for each core but one, limited by memory
 */
export function intakeThreads(
  configured: number | 'auto',
  { cores, memory }: { readonly cores: number; readonly memory: number } = {
    cores: availableParallelism(),
    memory: memoryBudget().bytes,
  },
): number {
  if (configured !== 'auto') return configured;
  return Math.min(cores - 1, Math.floor(memory / MEMORY_PER_THREAD), MOST_THREADS);
}

/** The heap limit of each of some intake threads, in bytes. */
export function intakeHeap(threads: number, memory = defaultsBudget()): number {
  return Math.min(INTAKE_HEAP_BYTES, (memory * INTAKE_HEAP_SHARE) / threads);
}

/** The memory that a daemon with these settings needs at most under load: an estimate. */
export function memoryNeed(settings: readonly MemorySetting[], intakeThreads: number): number {
  const hasStore = settings.some(({ key }) => key.startsWith('extensions.'));
  const fixed = PROGRAM_BYTES + (hasStore ? STORE_BYTES : 0) + intakeThreads * INTAKE_THREAD_BYTES;
  return settings.reduce((sum, { bytes }) => sum + bytes, fixed);
}
