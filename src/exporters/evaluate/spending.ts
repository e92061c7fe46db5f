import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writePrivateFile } from '../../auth/private-file.js';
import type { Clock } from '../../component/telemetry.js';
import { makePrivateDirectory } from '../../config/private-path.js';
import type { NanoUsd } from '../../signal/money.js';
import { dayOf, formatDay } from '../../storage/contracts/telemetry-writer.js';

interface Stored {
  /** `2026-11-26`, in UTC. */
  readonly date: string;
  readonly nano_usd: NanoUsd;
}

const NOTHING: Stored = { date: '', nano_usd: 0 };

/** The cost of the judge's calls on the current UTC day, kept in a file so that it survives a restart. */
export class Spending {
  readonly #path: string;
  readonly #clock: Clock;
  #stored: Stored;
  /** Not on disk yet. */
  #pending: NanoUsd = 0;
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string, clock: Clock, stored: Stored) {
    this.#path = path;
    this.#clock = clock;
    this.#stored = stored;
  }

  /** @throws Error if the directory cannot be created, or the file is not readable or was changed by hand */
  static async open(path: string, clock: Clock): Promise<Spending> {
    await makePrivateDirectory(dirname(path));
    return new Spending(path, clock, (await readStored(path)) ?? NOTHING);
  }

  /** The cost of today. */
  get today(): NanoUsd {
    return this.#onDisk(this.#stored) + this.#pending;
  }

  /** Adds the cost of a call. Resolves when it is on disk. @throws Error if it cannot be written; it counts nevertheless */
  async add(cost: NanoUsd): Promise<void> {
    this.#pending += cost;
    const write = this.#writing.catch(() => undefined).then(() => this.#write(cost));
    this.#writing = write;
    await write;
  }

  /** The file is read again, because on a reload an exporter and its successor use it. */
  async #write(cost: NanoUsd): Promise<void> {
    const before = this.#onDisk((await readStored(this.#path)) ?? NOTHING);
    const stored = { date: this.#date, nano_usd: before + cost };
    await writePrivateFile(this.#path, JSON.stringify(stored), 'The cost of the day');
    this.#stored = stored;
    this.#pending -= cost;
  }

  #onDisk({ date, nano_usd }: Stored): NanoUsd {
    return date === this.#date ? nano_usd : 0;
  }

  get #date(): string {
    return formatDay(dayOf(this.#clock.now()));
  }
}

async function readStored(path: string): Promise<Stored | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new Error(`${path} cannot be read: make it readable for the daemon's user`, { cause });
  }
  try {
    const { date, nano_usd } = JSON.parse(text) as Partial<Stored>;
    if (typeof date === 'string' && Number.isSafeInteger(nano_usd))
      return { date, nano_usd: Number(nano_usd) };
  } catch {
    // Named below.
  }
  throw new Error(`${path} is damaged: delete it to count the cost of today from 0 again`);
}
