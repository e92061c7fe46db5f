import { open, readFile, rename, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE_FILE } from '../../../config/private-path.js';

const FILE = 'decisions';
const OLDER = 'decisions.older';
/** A user, a trace, and the share that was kept; 0: it was dropped. */
const LINE = /^([^ \n]+ [^ \n]+) (\d(?:\.\d+)?(?:e-\d+)?)$/;

/**
 * What was decided of runs, so that what comes of them later goes the same way: the newest decisions in memory, and in two files,
 * each with so many of them, so that they are known after a restart. A file is not synced: with the power the decisions of the last
 * moments may be lost, and they are made again by what lies in the journal.
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

  /** @param most how many are remembered @param onFailure is told where a file cannot be written: then they are only in memory */
  constructor(most: number, onFailure: (error: unknown) => void) {
    this.#most = most;
    this.#onFailure = onFailure;
  }

  /** Reads those of earlier processes. @throws the error of the file system */
  async open(path: string): Promise<void> {
    this.#path = path;
    for (const name of [OLDER, FILE]) {
      const text = await readFile(join(path, name), 'utf8').catch(unlessMissing);
      // What a crash cut off is no whole line.
      const lines = text.split('\n').slice(0, -1);
      this.#lines = lines.length;
      for (const line of lines) {
        const [, key, share] = LINE.exec(line) ?? [];
        if (key !== undefined) this.#remember(key, Number(share));
      }
    }
    this.#file = await open(join(path, FILE), 'a', PRIVATE_FILE);
    // The next line begins a line, whatever a crash has left.
    if (this.#lines > 0) this.#unwritten.push('');
  }

  /** The share that was kept of runs like it, 0 where it was dropped, undefined where nothing is known. */
  shareOf(key: string): number | undefined {
    return this.#shares.get(key);
  }

  put(key: string, share: number): void {
    this.#remember(key, share);
    if (this.#file === null) return;
    this.#unwritten.push(`${key} ${share}`);
    this.#writing ??= this.#write();
  }

  /** Resolves when what was put lies in the file, as far as that is possible. */
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
    // Those of one turn go together.
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
