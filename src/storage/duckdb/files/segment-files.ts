import { readdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { FILE_HEAD_BYTES } from './duckdb-1-5-format.js';

/** The names of the cold file and the hot segments: they are next to the main file, under its name. */
export class SegmentFiles {
  /** Path of the main file. */
  readonly main: string;
  readonly #base: string;

  constructor(mainPath: string) {
    this.main = mainPath;
    this.#base = join(dirname(mainPath), basename(mainPath).replace(/\.(duckdb|db)$/, ''));
  }

  get cold(): string {
    return `${this.#base}.cold.duckdb`;
  }

  hot(number: number): string {
    return `${this.#base}.hot-${String(number).padStart(8, '0')}.duckdb`;
  }

  /** The number of a hot segment; null for another file. */
  numberOf(path: string): number | null {
    const number = /\.hot-(\d+)\.duckdb$/.exec(path)?.[1];
    return number === undefined || this.hot(Number(number)) !== path ? null : Number(number);
  }

  /** The hot segments on the disk, in the order of their numbers. */
  list(): { number: number; path: string }[] {
    const directory = dirname(this.#base);
    const name = /^(.*)\.hot-(\d+)\.duckdb$/;
    return readdirSync(directory)
      .flatMap((file) => {
        const [, base, number] = name.exec(file) ?? [];
        if (base !== basename(this.#base)) return [];
        return [{ number: Number(number), path: join(directory, file) }];
      })
      .sort((a, b) => a.number - b.number);
  }
}

/**
 * Whether the process that created a segment died before it wrote the head of the file. Nothing is lost then, because the
 * segment's rows are in its log.
 */
export function isTorn(path: string): boolean {
  return bytesOf(path) < FILE_HEAD_BYTES && bytesOf(`${path}.wal`) === 0;
}

/** Whether the file itself holds more than its head. */
export function hasBlocks(path: string): boolean {
  return bytesOf(path) > FILE_HEAD_BYTES;
}

/** The size of a file; 0 if it does not exist. */
export function bytesOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Removes a segment. Asynchronously: freeing the space of a large file can take many milliseconds. */
export async function removeFiles(path: string): Promise<void> {
  for (const file of [path, `${path}.wal`]) await rm(file, { force: true });
}
