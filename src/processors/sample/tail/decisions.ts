import { open, readFile, rename, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE_FILE } from '../../../config/private-path.js';

const FILE = 'decisions';
const OLDER = 'decisions.older';
/** A user, a trace, and the share that was kept; 0: it was dropped. */
const LINE = /^([^ \n]+ [^ \n]+) (\d(?:\.\d+)?(?:e-\d+)?)$/;

/**
 * Sampling decisions on runs, so that late data gets the same decision: the newest decisions in memory, and in two files of the same
 * size to survive a restart. Files are not synced: a power loss may lose the last decisions, which are then repeated from the
 * journal.
 */
export class Decisions {
  readonly #most: number;
  readonly #shares = new Map<string, number>();
  readonly #onFailure: (error: unknown) => void;
  #path = '';
  #file: FileHandle | null = null;
  #lines = 0;
  #unwritten: string[] = [];
  #writing: Promise<void> | null = null;

  /** @param most maximum number of decisions @param onFailure called if a file cannot be written: decisions are then only in memory */
  constructor(most: number, onFailure: (error: unknown) => void) {
    this.#most = most;
    this.#onFailure = onFailure;
  }

  /** Reads those of earlier processes. @throws the error of the file system */
  async open(path: string): Promise<void> {
    this.#path = path;
    for (const name of [OLDER, FILE]) {
      const text = await readFile(join(path, name), 'utf8').catch(unlessMissing);
      // A line without an end was cut off by a crash.
      const lines = text.split('\n').slice(0, -1);
      this.#lines = lines.length;
      for (const line of lines) {
        const [, key, share] = LINE.exec(line) ?? [];
        if (key !== undefined) this.#remember(key, Number(share));
      }
    }
    this.#file = await open(join(path, FILE), 'a', PRIVATE_FILE);
    // A crash may have left a partial line: start a new one.
    if (this.#lines > 0) this.#unwritten.push('');
  }

  /** The share of similar runs that was kept; 0 if the run was dropped, undefined if unknown. */
  shareOf(key: string): number | undefined {
    return this.#shares.get(key);
  }

  put(key: string, share: number): void {
    this.#remember(key, share);
    if (this.#file === null) return;
    this.#unwritten.push(`${key} ${share}`);
    this.#writing ??= this.#write();
  }

  /** Resolves when all decisions are written, as far as possible. */
  async written(): Promise<void> {
    await this.#writing;
  }

  async close(): Promise<void> {
    await this.written();
    await this.#file?.close();
    this.#file = null;
  }

  #remember(key: string, share: number): void {
    this.#shares.delete(key);
    this.#shares.set(key, share);
    if (this.#shares.size <= this.#most) return;
    const [oldest] = this.#shares.keys();
    if (oldest !== undefined) this.#shares.delete(oldest);
  }

  async #write(): Promise<void> {
    // Batches the writes of one event loop turn.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#unwritten.length > 0) {
      const lines = this.#unwritten.splice(0);
      try {
        if (this.#lines >= this.#most) await this.#turn();
        await this.#file?.appendFile(`${lines.join('\n')}\n`);
        this.#lines += lines.length;
      } catch (error) {
        this.#onFailure(error);
      }
    }
    this.#writing = null;
  }

  /** The newer file becomes the older one. */
  async #turn(): Promise<void> {
    const [newer, older] = [FILE, OLDER].map((name) => join(this.#path, name)) as [string, string];
    await rename(newer, older);
    const file = await open(newer, 'a', PRIVATE_FILE);
    await this.#file?.close();
    this.#file = file;
    this.#lines = 0;
  }
}

function unlessMissing(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
  throw error;
}
