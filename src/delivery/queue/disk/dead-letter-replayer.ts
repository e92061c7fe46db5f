import type { Clock, Counter, Labels, Logger, Meter } from '../../../component/telemetry.js';
import type { Signal } from '../../../signal/batch.js';
import { SparseLog } from '../../../telemetry/sparse-log.js';
import type { DeadLetters, WholeLetter } from './dead-letters.js';
import { QueueFull } from './stored-batch.js';

/** How often it is looked for letters that are to be sent again. */
const LOOK_MS = 1000;
/** When there are too many, the oldest are dropped until so much is free again: not with every letter. */
const KEPT_SHARE = 0.9;

/** Keeps the dead letters of an exporter within their bounds, and queues those marked for replay. */
export class DeadLetterReplayer {
  readonly #letters: DeadLetters;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #log: SparseLog;
  readonly #dropped: Counter;
  readonly #labels: Labels;
  readonly #endGauge: () => void;
  readonly #takeBack: (letter: WholeLetter, signal: Signal) => Promise<void> | null;
  #bytes = 0;
  #looking: Promise<void> = Promise.resolve();
  #cancel: () => void = () => undefined;
  #isClosed = false;

  /** @param tools.takeBack puts a letter into the queue of its signal; returns null if absent */
  constructor(
    letters: DeadLetters,
    tools: {
      readonly exporter: string;
      readonly clock: Clock;
      readonly logger: Logger;
      readonly meter: Meter;
      readonly takeBack: (letter: WholeLetter, signal: Signal) => Promise<void> | null;
    },
  ) {
    const { exporter, clock, logger, meter, takeBack } = tools;
    this.#letters = letters;
    this.#clock = clock;
    this.#logger = logger;
    this.#log = new SparseLog(logger, clock);
    this.#takeBack = takeBack;
    this.#labels = { exporter };
    const labelNames = ['exporter'];
    this.#dropped = meter.counter('exporter_dead_letters_dropped_items_total', {
      description: 'Items of dead letters dropped at the size limit.',
      labelNames,
    });
    this.#dropped.add(0, this.#labels);
    this.#endGauge = meter.gauge(
      'exporter_dead_letter_bytes',
      { description: 'Approximate disk space of dead letters.', labelNames },
      () => this.#bytes,
      this.#labels,
    );
  }

  /** @throws the error of the file system */
  async open(maxBytes: number): Promise<void> {
    await this.#bound(maxBytes);
    this.#look();
    await this.#looking;
  }

  /** A letter has come. @throws the error of the file system */
  async added(bytes: number, maxBytes: number): Promise<void> {
    this.#bytes += bytes;
    if (this.#bytes > maxBytes) await this.#bound(maxBytes * KEPT_SHARE);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    await this.#looking;
    this.#endGauge();
  }

  async #bound(maxBytes: number): Promise<void> {
    const { dropped, bytes } = await this.#letters.bound(maxBytes);
    this.#bytes = bytes;
    if (dropped === 0) return;
    this.#dropped.add(dropped, this.#labels);
    this.#log.warn(
      dropped,
      {},
      'Dropped the oldest dead letters: replay or drop some with jackdaw dead-letters, or raise queue.dead_letters.max_bytes',
    );
  }

  #look(): void {
    this.#looking = this.#sendAgain().catch((error: unknown) => {
      this.#log.warn(0, { err: error }, 'Cannot read dead letters to replay');
    });
    void this.#looking.then(() => {
      if (this.#isClosed) return;
      this.#cancel = this.#clock.after(LOOK_MS, () => {
        this.#look();
      });
    });
  }

  async #sendAgain(): Promise<void> {
    for (const id of await this.#letters.replays()) {
      if (this.#isClosed) return;
      const letter = await this.#letters.readReplay(id);
      if (letter === null) continue;
      if (letter instanceof Error) {
        this.#logger.error({ err: letter }, 'Cannot replay a dead letter');
        await this.#letters.putBack(id);
        continue;
      }
      try {
        const taken = this.#takeBack(letter, letter.about.signal);
        if (taken === null) {
          const { signal } = letter.about;
          this.#logger.error(
            { letter: id, signal },
            'Cannot replay a dead letter: no pipeline sends its signal to the exporter',
          );
          await this.#letters.putBack(id);
          continue;
        }
        await taken;
      } catch (error) {
        // The others would not fit, either; the next look comes soon.
        if (error instanceof QueueFull) return;
        throw error;
      }
      await this.#letters.replayed(id);
      this.#logger.info({ letter: id, items: letter.items }, 'Replaying a dead letter');
    }
  }
}
