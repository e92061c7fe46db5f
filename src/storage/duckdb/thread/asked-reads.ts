import { readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock, Logger } from '../../../component/telemetry.js';
import { PRIVATE_FILE } from '../../../config/private-path.js';
import type { Micros } from '../../../signal/time.js';
import { SharedCache } from '../../shared/shared-cache.js';
import { askedNow, isRepeatable, questionOf } from './repeatable-read.js';
import type { ReadCall } from './store-reads.js';

/** How many questions are noted, of all users and of one, and how long the text of one may be. */
const MOST = 256;
const MOST_OF_USER = 32;
const LONGEST = 2000;
/** A question is noted when it once took so long. */
const SLOW_MS = 20;
/** What nobody asked for so long is not asked again. */
const FORGOTTEN_AFTER: Micros = 30 * 86_400_000_000;
/** The file follows the notes at most so much later. */
const WRITE_AFTER_MS = 60_000;
const VERSION = 1;

/** A read that was asked, and when it was asked last. */
interface Asked {
  readonly read: ReadCall;
  readonly at: Micros;
}

interface Parts {
  /** Path of the store's main file: the notes lie beside it. */
  readonly mainPath: string;
  readonly logger: Logger;
  readonly clock: Clock;
  /** In place of {@link SLOW_MS}. */
  readonly slowMs?: number;
}

/**
 * Which questions users ask whose answers memory makes faster, in a small file beside the store (`NAME.asked`), so that they can be asked
 * again after a start. Nothing depends on it: without the file, or with a part of it, only the first answers take longer.
 */
export class AskedReads {
  /** By {@link questionOf}. */
  readonly #asked = new SharedCache<Asked>({ mostSize: MOST, mostSizeOfUser: MOST_OF_USER });
  readonly #parts: Parts;
  readonly #path: string;
  #cancel: (() => void) | null = null;
  #writing: Promise<void> = Promise.resolve();

  private constructor(parts: Parts) {
    this.#parts = parts;
    const { mainPath } = parts;
    this.#path = join(dirname(mainPath), `${basename(mainPath).replace(/\.(duckdb|db)$/, '')}.asked`);
  }

  static async open(parts: Parts): Promise<AskedReads> {
    const reads = new AskedReads(parts);
    await reads.#load();
    return reads;
  }

  /** Answers a read, and notes it where it is worth asking again. */
  async answer<T>(read: ReadCall, answer: () => Promise<T>): Promise<T> {
    const startedMs = performance.now();
    const found = await answer();
    if (isRepeatable(read)) this.#note(read, performance.now() - startedMs);
    return found;
  }

  /** What is to be asked again, as it would be asked now: of each user in turn what was asked last. */
  list(now: Micros): ReadCall[] {
    const ofUsers = this.#all().map((asked) => asked.filter(({ at }) => now - at < FORGOTTEN_AFTER));
    return Array.from({ length: MOST_OF_USER }, (_, turn) =>
      ofUsers.flatMap(({ [turn]: next }) => (next === undefined ? [] : [askedNow(next.read, next.at, now)])),
    ).flat();
  }

  /** Writes what is noted. */
  async close(): Promise<void> {
    if (this.#cancel !== null) this.#writeNow();
    await this.#writing;
  }

  #note(read: ReadCall, tookMs: number): void {
    const at = this.#parts.clock.now();
    const question = questionOf(read, at);
    const isKnown = this.#asked.get(read.tenant, question) !== undefined;
    if (!isKnown && (tookMs < (this.#parts.slowMs ?? SLOW_MS) || question.length > LONGEST)) return;
    this.#asked.put(read.tenant, question, { read, at }, 1);
    this.#cancel ??= this.#parts.clock.after(WRITE_AFTER_MS, () => {
      this.#writeNow();
    });
  }

  /** Of each user what was asked, the last first. */
  #all(): Asked[][] {
    return [...this.#asked.users()].map((user) => [...this.#asked.ofUser(user)].map(([, asked]) => asked));
  }

  #writeNow(): void {
    this.#cancel?.();
    this.#cancel = null;
    // The oldest first, as they are added again when the file is read.
    const asked = this.#all().flat().reverse();
    const text = JSON.stringify({ version: VERSION, asked });
    const draft = `${this.#path}.new`;
    this.#writing = this.#writing
      .then(async () => {
        await writeFile(draft, text, { mode: PRIVATE_FILE });
        await rename(draft, this.#path);
      })
      .catch((error: unknown) => {
        this.#parts.logger.debug(
          { err: error, file: this.#path },
          'Could not save the list of recent queries.',
        );
      });
  }

  async #load(): Promise<void> {
    let noted: unknown;
    try {
      noted = JSON.parse(await readFile(this.#path, 'utf8'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        this.#parts.logger.debug(
          { err: error, file: this.#path },
          'Could not read the list of recent queries.',
        );
      return;
    }
    for (const asked of askedOf(noted))
      this.#asked.put(asked.read.tenant, questionOf(asked.read, asked.at), asked, 1);
  }
}

/** Those of a file that can be asked, in its order. */
function askedOf(noted: unknown): Asked[] {
  const { version, asked } = (noted ?? {}) as { readonly version?: unknown; readonly asked?: unknown };
  if (version !== VERSION || !Array.isArray(asked)) return [];
  return (asked as readonly (Partial<Asked> | null)[]).slice(-MOST).flatMap((one): Asked[] => {
    const { read, at } = one ?? {};
    const { tenant, args } = (read ?? {}) as Partial<ReadCall>;
    if (read === undefined || !Number.isSafeInteger(at) || !Number.isSafeInteger(tenant)) return [];
    return Array.isArray(args) && isRepeatable(read) ? [{ read, at: Number(at) }] : [];
  });
}
