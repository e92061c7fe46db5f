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

/** The cost of the judge's calls on the current UTC day, kept in a file so that it survives a restart. */
export class Spending {
  readonly #path: string;
  readonly #clock: Clock;
  #stored: Stored;
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string, clock: Clock, stored: Stored) {
    this.#path = path;
    this.#clock = clock;
    this.#stored = stored;
  }

  /** @throws Error if the directory cannot be created, or the file is not readable or was changed by hand */
  static async open(path: string, clock: Clock): Promise<Spending> {
    await makePrivateDirectory(dirname(path));
    return new Spending(path, clock, (await readStored(path)) ?? { date: '', nano_usd: 0 });
  }

  /** The cost of today. */
  get today(): NanoUsd {
    return this.#stored.date === this.#date ? this.#stored.nano_usd : 0;
  }

  /** Adds the cost of a call. Resolves when it is on disk. @throws Error if it cannot be written; it counts nevertheless */
  async add(cost: NanoUsd): Promise<void> {
    this.#stored = { date: this.#date, nano_usd: this.today + cost };
    const write = this.#writing
      .catch(() => undefined)
      .then(() => writePrivateFile(this.#path, JSON.stringify(this.#stored), 'The cost of the day'));
    this.#writing = write;
    await write;
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
