import type { ConsumeError } from '../../../component/consume-error.js';
import type { Consumer } from '../../../component/consumer.js';
import { droppedItems } from '../../../component/dropped-items.js';
import type { Settings } from '../../../component/factory.js';
import type { Host } from '../../../component/host.js';
import type { Counter, Clock, Logger } from '../../../component/telemetry.js';
import { durationMs } from '../../../config/duration.js';
import { sizeBytes } from '../../../config/size.js';
import { QueueFull } from '../../../delivery/queue/disk/stored-batch.js';
import { identityView } from '../../../expressions/scope/scopes.js';
import type { TracesBatch } from '../../../signal/batch.js';
import { MICROS_PER_MS, MS_PER_SECOND } from '../../../signal/time-units.js';
import type { Micros } from '../../../signal/time.js';
import type { TraceRecord } from '../../../signal/trace.js';
import { pause } from '../../../telemetry/pause.js';
import type { TailConfig } from '../config.js';
import { Decider } from '../decider.js';
import { Decisions } from './decisions.js';
import { HeldRun, keyOf, type Part } from './held-run.js';
import { HeldRuns } from './held-runs.js';
import { Journal, NoJournal, type KeptRuns, type Written } from './journal.js';
import { TailMetrics, type Cause } from './metrics.js';
import { Passing } from './passing.js';
import { noRoom, notWritable } from './refusals.js';
import { approximateBytes } from '../../../delivery/queue/memory-size.js';
import { replaceSent, sentOf, type SentOrigin } from '../../../signal/sent-span.js';
import type { SpanRecord } from '../../../signal/span.js';
import type { Damage } from '../../../delivery/queue/disk/segment.js';
import { SparseLog } from '../../../telemetry/sparse-log.js';

/** Memory overhead of a record and its list entries. */
const RECORD_BYTES = 400;

/** Approximate memory of a part of a run while it is held. */
function heldBytes({ trace, spans }: TraceRecord): number {
  return spans.reduce((sum, span) => sum + spanBytes(span), RECORD_BYTES + approximateBytes(trace));
}

function spanBytes(span: SpanRecord): number {
  const sent = sentOf(span);
  let bytes = RECORD_BYTES + (sent?.bytes.length ?? 0);
  for (const key of Object.keys(span) as (keyof SpanRecord)[])
    // Derived on demand from the sent data, so measuring would create it.
    if (key !== 'metadata' || sent === undefined) bytes += approximateBytes(span[key]);
  return bytes;
}

/** Copies the bytes of spans out of their requests, which would otherwise stay in memory as a whole for one of their spans. */
class Unpinned {
  readonly #origins = new WeakMap<SentOrigin, SentOrigin>();

  take({ spans }: TraceRecord): void {
    for (const span of spans) {
      const sent = sentOf(span);
      if (sent === undefined) continue;
      replaceSent(span, { ...sent, bytes: copied(sent.bytes), origin: this.#origin(sent.origin) });
    }
  }

  #origin(origin: SentOrigin): SentOrigin {
    let known = this.#origins.get(origin);
    if (known === undefined) {
      known = { ...origin, bytes: copied(origin.bytes) };
      this.#origins.set(origin, known);
      this.#origins.set(known, known);
    }
    return known;
  }
}

/** Copies a small part of a larger buffer, so that the buffer can be freed. */
function copied(bytes: Uint8Array): Uint8Array {
  return bytes.buffer.byteLength > 2 * bytes.length ? Uint8Array.from(bytes) : bytes;
}

export type HeldTracesSettings = Settings<TailConfig>;

/** Approximate memory of a cached decision, and the share of the memory for all of them. */
const DECISION_BYTES = 250;
const DECISIONS_PART = 16;
/** On a full disk, one in this many held runs is decided immediately. */
const DISK_PART = 8;

/** Holds undecided runs in memory, and on disk to survive a restart. */
export class HeldTraces {
  readonly #settings: HeldTracesSettings;
  readonly #decider: Decider;
  readonly #held: HeldRuns;
  readonly #journal: KeptRuns;
  readonly #decisions: Decisions;
  readonly #passing: Passing;
  readonly #room: Room;
  readonly #metrics: TailMetrics;
  readonly #dropped: Counter;
  readonly #unpinned = new Unpinned();
  readonly #sizes = new WeakMap<TraceRecord, number>();
  readonly #logs: TailLogs;
  readonly #onHeld: () => void;
  #host: Host | null = null;
  readonly #end = new AbortController();
  #isWritable = true;

  /** @param onHeld called when a run may be due earlier */
  constructor(settings: HeldTracesSettings, next: Consumer<TracesBatch>, onHeld: () => void) {
    const { config, id, pipeline = '', clock, meter, logger } = settings;
    this.#settings = settings;
    this.#onHeld = onHeld;
    this.#decider = new Decider(settings);
    this.#logs = new TailLogs(logger, clock);
    const micros = (text: string): number => durationMs(text) * MICROS_PER_MS;
    this.#held = new HeldRuns({ quiet: micros(config.wait), afterEnd: micros(config.after_end) });
    const memory = sizeBytes(config.max_memory);
    const remembered = Math.floor(memory / DECISIONS_PART);
    const onFailure = (error: unknown): void => {
      this.#noteDisk(error);
    };
    this.#decisions = new Decisions(Math.ceil(remembered / DECISION_BYTES), onFailure);
    const onWritten = (written: Written): void => {
      this.#adopt(written);
    };
    this.#journal =
      settings.pipeline === undefined
        ? new NoJournal(onWritten)
        : new Journal({
            directory: config.directory,
            name: `${id}@${pipeline}`,
            maxBytes: sizeBytes(config.max_disk_size),
            clock,
            onWritten,
            onDamage: (damage) => {
              this.#metrics.lost(damage.lost.items);
              this.#logs.damaged(damage);
            },
            onFailure,
          });
    this.#passing = new Passing({
      next,
      clock,
      onPassed: (run) => {
        this.#release(run);
      },
      onLost: (run, parts, reason) => {
        this.#metrics.lost(parts);
        this.#logs.lost(parts, reason);
        if (run !== null) this.#release(run);
      },
      onFailure: (error, waitMs) => {
        this.#logs.waits(error, this.#held.size, waitMs);
        this.#room.changed();
      },
    });
    this.#room = new Room(memory - remembered, () => this.#held.bytes + this.#passing.bytes);
    this.#dropped = droppedItems(meter);
    this.#dropped.add(0, { processor: id, item: 'traces' });
    this.#metrics = new TailMetrics(
      meter,
      { processor: id, pipeline },
      {
        runs: () => this.#held.size,
        bytes: () => this.#held.bytes + this.#passing.bytes,
        diskBytes: () => this.#journal.bytes,
      },
    );
  }

  get #hasEnded(): boolean {
    return this.#end.signal.aborted;
  }

  /** @throws DirectoryTaken; the error of the file system */
  async open(host: Host): Promise<void> {
    this.#host = host;
    await this.#journal.open();
    if (this.#journal.path !== null) await this.#decisions.open(this.#journal.path);
  }

  /** Loads the runs left by an earlier process. Never rejects. */
  async recover(): Promise<void> {
    while (!this.#hasEnded) {
      try {
        const written = await this.#journal.next();
        if (written === null) return;
        await this.#recoverOne(written);
      } catch (error) {
        this.#noteDisk(error);
        await pause(this.#settings.clock, MS_PER_SECOND, this.#end.signal);
      }
    }
  }

  /** @throws ConsumeError if the next consumer refuses kept runs of the user */
  assertOpen(tenant: string): void {
    const failure = this.#passing.failureOf(tenant);
    if (failure !== null) throw failure;
  }

  shareOf(key: string): number | undefined {
    return this.#decisions.shareOf(key);
  }

  noteLate(kept: number, dropped: number): void {
    this.#metrics.late(true, kept);
    this.#metrics.late(false, dropped);
    this.#dropped.add(dropped, { processor: this.#settings.id, item: 'traces' });
  }

  /** Resolves when the parts are on disk. @throws ConsumeError if there is no space; the parts are then not held */
  async hold(tenant: string, items: TraceRecord[], receivedAt: Micros): Promise<void> {
    const bytes = items.reduce((sum, item) => sum + this.#sizeOf(item), 0);
    await this.#makeRoom(tenant, bytes);
    try {
      await this.#journal.append(tenant, items, receivedAt, this.#settings.clock.now());
      this.#noteDisk(null);
    } catch (error) {
      throw this.#refusal(error);
    } finally {
      this.#room.giveBack(bytes);
    }
    this.#onHeld();
  }

  nextDueAt(): Micros | null {
    return this.#held.nextDueAt();
  }

  /** Decides due runs. @returns the number of decided runs; `most` if there may be more */
  decideDue(most: number): number {
    const now = this.#settings.clock.now();
    for (let count = 0; count < most; count++) {
      const run = this.#held.takeDue(now);
      if (run === undefined) return count;
      this.#decide(run, run.endedAt === null ? 'quiet' : 'ended');
    }
    return most;
  }

  async close(recovered: Promise<void>): Promise<void> {
    this.#end.abort();
    this.#room.end();
    await recovered;
    await this.#passing.close();
    await this.#decisions.close();
    await this.#journal.close();
    this.#metrics.end();
  }

  #decide(run: HeldRun, cause: Cause): void {
    const { tenant } = run;
    const identity = identityView({ tenant, items: [] }, { receivedAt: run.lastSeenAt });
    const decision = this.#decider.decide(run.whole(), identity);
    this.#metrics.decided(decision.isKept, cause);
    this.#decisions.put(run.key, decision.isKept ? decision.share : 0);
    if (decision.isKept) this.#passing.add(run, decision.share);
    else {
      this.#dropped.add(run.parts.length, { processor: this.#settings.id, item: 'traces' });
      this.#release(run);
    }
  }

  #decideEarly(cause: Cause): boolean {
    const run = this.#held.takeOldest();
    if (run === undefined) return false;
    this.#decide(run, cause);
    this.#logs.early(run.parts.length, cause);
    return true;
  }

  async #makeRoom(tenant: string, bytes: number): Promise<void> {
    while (!this.#room.take(bytes)) {
      // Runs being passed on use memory until they are accepted, so further decisions would not help.
      if (this.#passing.bytes < this.#room.size / 2 && this.#decideEarly('memory')) continue;
      if (this.#passing.giveUpOne(tenant)) continue;
      if (this.#hasEnded || (!this.#passing.isMoving && !this.#room.isTaken)) throw this.#refusal(null);
      await this.#room.wait();
    }
  }

  async #recoverOne(written: Written): Promise<void> {
    const bytes = written.items.reduce((sum, item) => sum + this.#sizeOf(item), 0);
    while (!this.#room.take(bytes) && !this.#hasEnded) {
      if (this.#passing.bytes < this.#room.size / 2 && this.#decideEarly('memory')) continue;
      await this.#room.wait();
    }
    if (this.#hasEnded) return;
    this.#adopt(written);
    this.#room.giveBack(bytes);
  }

  /** Holds parts that are on disk. */
  #adopt({ tenant, receivedAt, items, record }: Written): void {
    const now = this.#settings.clock.now();
    for (const item of items) {
      const { trace_id } = item.trace;
      const part: Part = { item, bytes: this.#sizeOf(item), receivedAt, record };
      // The run may have been decided while this part was written, or by an earlier process.
      const share = this.#decisions.shareOf(keyOf(tenant, trace_id));
      if (share === undefined) {
        this.#unpinned.take(item);
        this.#held.add(tenant, trace_id, part, now);
        continue;
      }
      const run = new HeldRun(tenant, trace_id);
      run.add(part, now);
      if (share > 0) this.#passing.add(run, share);
      else this.#release(run);
    }
  }

  /** Releases the run's parts on disk once the decision is written. */
  #release({ parts }: HeldRun): void {
    this.#room.changed();
    void this.#decisions.written().then(() => {
      for (const { record } of parts) this.#journal.release(record);
    });
  }

  #sizeOf(item: TraceRecord): number {
    let bytes = this.#sizes.get(item);
    if (bytes === undefined) this.#sizes.set(item, (bytes = heldBytes(item)));
    return bytes;
  }

  /** The error returned to the sender. */
  #refusal(error: unknown): ConsumeError {
    const { id } = this.#settings;
    if (error instanceof QueueFull)
      for (let left = Math.ceil(this.#held.size / DISK_PART); left > 0; left--) this.#decideEarly('disk');
    else if (error !== null) {
      this.#noteDisk(error);
      return notWritable(id, error);
    }
    return noRoom(id);
  }

  #noteDisk(error: unknown): void {
    if ((error === null) === this.#isWritable) return;
    this.#isWritable = error === null;
    const message = 'the journal cannot be written: check the disk of its directory';
    this.#host?.reportStatus(this.#isWritable ? { level: 'ok' } : { level: 'recoverable', message });
    if (error !== null) this.#logs.diskFailed(error);
  }
}

/** The memory for undecided runs. */
class Room {
  readonly size: number;
  readonly #used: () => number;
  /** Bytes of parts that are being written and are not held yet. */
  #taken = 0;
  #waiting: (() => void)[] = [];

  /** @param size in bytes, like all numbers here @param used returns the bytes of held runs */
  constructor(size: number, used: () => number) {
    this.size = size;
    this.#used = used;
  }

  get isTaken(): boolean {
    return this.#taken > 0;
  }

  /** @returns whether there was space. An item larger than the total size is accepted only if nothing else is held. */
  take(bytes: number): boolean {
    const used = this.#used() + this.#taken;
    if (used > 0 && used + bytes > this.size) return false;
    this.#taken += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#taken -= bytes;
    this.changed();
  }

  /** Resolves at the next change. */
  async wait(): Promise<void> {
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  changed(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resumes all waiting callers. */
  end(): void {
    this.changed();
  }
}

/** Logs of a tail sampler, each at most once in ten seconds. */
class TailLogs {
  readonly #behind: SparseLog;
  readonly #disk: SparseLog;
  readonly #early: SparseLog;
  readonly #lost: SparseLog;

  constructor(logger: Logger, clock: Clock) {
    [this.#behind, this.#disk, this.#early, this.#lost] = [0, 0, 0, 0].map(
      () => new SparseLog(logger, clock),
    ) as [SparseLog, SparseLog, SparseLog, SparseLog];
  }

  damaged({ path, offset, bytes, lost }: Damage): void {
    this.#disk.warn(
      lost.items,
      { path, offset, bytes },
      'Skipped an unreadable part of the journal. A part that a crash cut off was never acknowledged; other data is lost. Check the disk.',
    );
  }

  lost(parts: number, reason: string): void {
    this.#lost.warn(parts, { reason }, 'Sampled items were acknowledged but later rejected permanently');
  }

  /** Called when the next consumer accepts nothing. */
  waits(error: unknown, heldRuns: number, waitMs: number): void {
    this.#behind.warn(
      0,
      { err: error, held_runs: heldRuns },
      `Could not pass on kept runs; retrying in ${Math.ceil(waitMs / MS_PER_SECOND)} s`,
    );
  }

  early(parts: number, cause: Cause): void {
    this.#early.warn(
      parts,
      { cause },
      'Decided runs early because the buffer is full; raise max_memory or max_disk_size, or reduce wait',
    );
  }

  diskFailed(error: unknown): void {
    this.#disk.warn(
      0,
      { err: error },
      'Cannot write the journal; batches are refused until it can be written',
    );
  }
}
