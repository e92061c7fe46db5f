import type { Reload } from '../../component/component.js';
import type { Consumer, Receipt } from '../../component/consumer.js';
import type { QueueStats } from '../../component/daemon-view.js';
import type { Exporter, Outputs, Settings } from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import type { Clock } from '../../component/telemetry.js';
import { DirectoryTaken } from '../../config/directory-lock.js';
import { amountOf, type Amount } from '../../signal/amount.js';
import { SIGNALS, type Batch, type Signal } from '../../signal/batch.js';
import type { AnyBatch } from '../../signal/raw-batch.js';
import type { Status, StatusLevel } from '../../component/status.js';
import { deliveryOptions, type DiskOptions } from './config.js';
import { Delivery } from './delivery.js';
import { DeadLetters, type WholeLetter } from './disk/dead-letters.js';
import type { RawDecoders } from './disk/batch-codec.js';
import type { SharedDisk } from './disk/disk-backing.js';
import { DiskPlace, placeOf } from './disk/disk-place.js';
import { DeadLetterReplayer } from './disk/dead-letter-replayer.js';
import { RoomWatch } from './room-watch.js';

/** Decides about a failed batch of that amount. @throws the error, if the sender should receive it */
export type OnFailure = (amount: Amount, error: unknown) => Receipt;

/** The outcome of a batch that a queue does not accept, and whether clients should use another instance. */
interface Fate {
  readonly level: StatusLevel;
  readonly words: string;
}

const FATES = {
  refused: { level: 'recoverable', words: 'new batches get 503' },
  dropped: { level: 'degraded', words: 'new batches are dropped' },
  held: { level: 'degraded', words: 'the outbox is paused' },
} as const satisfies Readonly<Record<string, Fate>>;

/**
 * A queued exporter with the engine's delivery chain around each of its inputs. The pipeline decides what happens to a batch if a
 * queue is full: {@link swallowErrors} drops it, {@link propagateErrors} refuses it to the sender.
 */
export class QueuedExporter implements Exporter {
  readonly inputs: Outputs;
  readonly #exporter: Exporter;
  readonly #deliveries = new Map<Signal, Delivery>();
  readonly #disk: ExporterDisk | null;
  readonly #status = new StatusParts();
  readonly #rooms: RoomWatch[] = [];
  /** By signal, the outcome of batches that its queue does not accept. */
  readonly #fates = new Map<Signal, Fate>();

  /**
   * @param decoders for items stored by a queue on disk
   * @throws Error if the configuration lacks the keys of `deliveryKeys()`
   */
  constructor(
    exporter: Exporter,
    settings: Settings<Readonly<Record<string, unknown>>>,
    decoders: RawDecoders,
  ) {
    const { id, logger, meter, clock, tracer } = settings;
    const options = deliveryOptions(settings.config);
    this.#exporter = exporter;
    this.#disk = options.disk ? this.#diskOf(options.disk, settings, decoders) : null;
    const shared = this.#disk?.shared;
    for (const signal of SIGNALS) {
      const input: Consumer<Batch<unknown>> | undefined = exporter.inputs[signal];
      if (input)
        this.#deliveries.set(
          signal,
          new Delivery(input, {
            ...{ exporter: id, signal, options, logger, meter, clock, tracer },
            onStall: (reason) => {
              this.#status.set(
                `delivery of ${signal}`,
                reason === null
                  ? { level: 'ok' }
                  : { level: 'degraded', message: `delivers nothing: ${reason}` },
              );
            },
            ...(shared
              ? { shared }
              : {
                  room: this.#roomOf(
                    [signal],
                    `queue of ${signal} in memory`,
                    'queue.max_items and queue.max_size',
                    clock,
                  ),
                }),
          }),
        );
    }
    this.inputs = Object.fromEntries(this.#deliveries);
  }

  /** For a pipeline that also has a direct exporter: a batch that the queue does not take is dropped, and counts as taken. */
  swallowErrors(signal: Signal): OnFailure {
    if (!this.#fates.has(signal)) this.#fates.set(signal, FATES.dropped);
    const delivery = this.#deliveries.get(signal);
    return (amount, error) => {
      delivery?.noteDropped(amount, error);
      return { accepted: amount.items, refused: [] };
    };
  }

  /** For a pipeline of queued exporters only: a full queue fails the batch, which may be sent again. */
  propagateErrors(signal: Signal): OnFailure {
    // Events have no client: the outbox retries, and everything else goes on.
    this.#fates.set(signal, signal === 'events' ? FATES.held : FATES.refused);
    const delivery = this.#deliveries.get(signal);
    return (amount, error) => {
      delivery?.noteRefused(amount);
      throw error;
    };
  }

  /**
   * For a pipeline of several queued exporters: called for each before any of them receives a batch, so that a batch refused by one
   * does not reach the others twice. Synchronous.
   *
   * @throws ConsumeError `overloaded` if the queue for the signal has no room; counts the batch as refused
   */
  assertRoom(signal: Signal, batch: AnyBatch): void {
    const delivery = this.#deliveries.get(signal);
    if (!delivery || delivery.hasRoomFor(batch)) return;
    delivery.noteRefused(amountOf(batch, signal));
    throw delivery.refusal(batch);
  }

  /** The queue of a signal; null if the exporter does not accept the signal. */
  waiting(signal: Signal): QueueStats | null {
    return this.#deliveries.get(signal)?.waiting ?? null;
  }

  /** @throws DirectoryTaken if another process uses the directory of the queues; Error that names the directory if it is unusable */
  async start(host: Host): Promise<void> {
    this.#status.begin((status) => {
      host.reportStatus(status);
    });
    const reportStatus = (status: Status): void => {
      this.#status.set('exporter', status);
    };
    await this.#exporter.start?.({ ...host, reportStatus });
    if (!this.#disk) return;
    const { place, box } = this.#disk.shared;
    try {
      await place.open();
      for (const delivery of this.#deliveries.values()) await delivery.open();
      await box.open(this.#disk.maxLetterBytes);
    } catch (error) {
      throw error instanceof DirectoryTaken
        ? error
        : new Error(healthIssueOf(error, place), { cause: error });
    }
  }

  async reload(now: Reload): Promise<boolean> {
    return (await this.#exporter.reload?.(now)) ?? false;
  }

  /** The directory of its queues; null if they are in memory, so that a successor can take their batches. */
  get directory(): string | null {
    return this.#disk?.shared.place.path ?? null;
  }

  /** Items that stay on disk after the stop. */
  get itemsOnDisk(): number {
    if (this.#disk === null) return 0;
    return [...this.#deliveries.values()].reduce((sum, { waiting }) => sum + waiting.items, 0);
  }

  /**
   * Takes the undelivered batches of an exporter that it replaces and that has queues in memory; those of a signal that it does not
   * accept stay there.
   *
   * @param deadline of the attempts in progress
   */
  async takeOver(before: QueuedExporter, deadline: AbortSignal): Promise<void> {
    await Promise.all(
      [...this.#deliveries].map(async ([signal, delivery]) => {
        await delivery.adopt((await before.#deliveries.get(signal)?.release(deadline)) ?? []);
      }),
    );
  }

  /** Empties the queues in memory, then stops the exporter. */
  async shutdown(deadline: AbortSignal): Promise<void> {
    await this.#disk?.shared.box.close();
    await Promise.all([...this.#deliveries.values()].map((delivery) => delivery.drain(deadline)));
    for (const room of this.#rooms) room.end();
    await this.#exporter.shutdown?.(deadline);
    this.#disk?.shared.place.close();
  }

  /** @param signals that it has in it @param keys that say how much it may hold */
  #roomOf(signals: readonly Signal[], queue: string, keys: string, clock: Clock): RoomWatch {
    const room = new RoomWatch(clock, (isFull) => {
      const { level, words } = this.#worstFate(signals);
      const message = `the ${queue} is full: ${words} until it drains; find out why the server does not accept data, or raise ${keys}`;
      this.#status.set(`room of ${queue}`, isFull ? { level, message } : { level: 'ok' });
    });
    this.#rooms.push(room);
    return room;
  }

  #worstFate(signals: readonly Signal[]): Fate {
    const fates = signals.map((signal) => this.#fates.get(signal));
    return [FATES.refused, FATES.dropped].find((fate) => fates.includes(fate)) ?? FATES.held;
  }

  #diskOf(
    { directory, maxBytes, maxDeadLetterBytes }: DiskOptions,
    { id, logger, meter, clock }: Settings<unknown>,
    decoders: RawDecoders,
  ): ExporterDisk {
    const signals = SIGNALS.filter((signal) => this.#exporter.inputs[signal]);
    const room = this.#roomOf(signals, `queue in ${placeOf(directory, id)}`, 'queue.max_bytes', clock);
    const place = new DiskPlace(directory, id, maxBytes, room);
    const letters = new DeadLetters(place.path);
    const takeBack = (letter: WholeLetter, signal: Signal) =>
      this.#deliveries.get(signal)?.takeBack(letter) ?? null;
    const box = new DeadLetterReplayer(letters, { exporter: id, logger, meter, clock, takeBack });
    const noteDisk: SharedDisk['noteDisk'] = (signal, error) => {
      const { level } = this.#worstFate([signal]);
      const status: Status =
        error === null ? { level: 'ok' } : { level, message: healthIssueOf(error, place) };
      this.#status.set(`disk of ${signal}`, status);
    };
    return { shared: { place, letters, box, decoders, noteDisk }, maxLetterBytes: maxDeadLetterBytes };
  }
}

function healthIssueOf(error: unknown, { path }: DiskPlace): string {
  const reason = error instanceof Error ? error.message : String(error);
  return `the queue in ${path} cannot be used (${reason}): free disk space and check that the directory exists and is writable`;
}

interface ExporterDisk {
  readonly shared: SharedDisk;
  readonly maxLetterBytes: number;
}

/** From the least to the worst. */
const LEVELS: readonly StatusLevel[] = ['ok', 'degraded', 'recoverable', 'permanent', 'fatal'];

/** Merges the statuses of several parts into one of the component: the worst level counts, with the messages of all. */
export class StatusParts {
  readonly #parts = new Map<string, Status>();
  #report: ((status: Status) => void) | null = null;

  /** @param report sends a status to the daemon */
  begin(report: (status: Status) => void): void {
    this.#report = report;
  }

  set(part: string, status: Status): void {
    const before = this.#parts.get(part);
    if (before?.level === status.level && before.message === status.message) return;
    // A part that never reported a problem does not report that it works.
    if (before === undefined && status.level === 'ok') return;
    this.#parts.set(part, status);
    const parts = [...this.#parts.values()].toSorted(
      (a, b) => LEVELS.indexOf(b.level) - LEVELS.indexOf(a.level),
    );
    const level = parts[0]?.level ?? 'ok';
    // One disk may fail for several signals in the same words.
    const messages = new Set(parts.flatMap(({ message }) => message ?? []));
    this.#report?.({ level, ...(messages.size > 0 && { message: [...messages].join(' | ') }) });
  }
}
