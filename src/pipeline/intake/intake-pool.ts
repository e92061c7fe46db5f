import { isDeepStrictEqual } from 'node:util';
import { MessageChannel } from 'node:worker_threads';
import { ConsumeError } from '../../component/consume-error.js';
import type { Component } from '../../component/component.js';
import { HttpProblem } from '../../component/http.js';
import type { Receipt } from '../../component/consumer.js';
import type { EdgeSample } from '../../component/edge-listener.js';
import type { IntakeTask } from '../../component/intake.js';
import type { Clock, Counter, Logger, Meter, Tracer } from '../../component/telemetry.js';
import { firstModule } from '../../config/built-module.js';
import type { ConfiguredComponent } from '../../config/config.js';
import { durationMs } from '../../config/duration.js';
import { intakeHeap } from '../../config/memory.js';
import type { Signal } from '../../signal/batch.js';
import { deserializeError } from '../../storage/contracts/errors.js';
import { MessageBatcher } from '../../worker/message-batcher.js';
import { writeNotice, type LogNotice } from '../../worker/notice-logger.js';
import { ThreadClient } from '../../worker/thread-client.js';
import type { ThreadMessage } from '../../worker/thread-protocol.js';
import { serve } from '../../worker/thread-server.js';
import type { Built } from '../build.js';
import type { Listening } from '../edges.js';
import type { Node } from '../node.js';
import type { PlannedPipeline } from '../plan.js';
import { connectionClosed } from '../../http/body.js';
import { CountsReader } from './counts-reader.js';
import { joinResults } from '../fanout.js';
import { FairTasks } from './fair-tasks.js';
import type { Placements } from './placements.js';
import {
  keyOf,
  type ComponentKey,
  type CopiedPipeline,
  type IntakeData,
  type TaskAnswer,
} from './protocol.js';
import type { Counts } from './recorder.js';
import { originally, type OpenAnswer, type RequestTrail } from './request-trail.js';

/** The compiled module of a thread. */
const MODULE = new URL('../../intake-thread.js', import.meta.url);
const KIB = 1024;
const MIB = 1024 * KIB;
/**
 * Besides its current task, a thread has small ones up to this size, so that it need not wait for the main thread. Behind a large one it has
 * none: those of other users would have to wait for both.
 */
const BYTES_AHEAD = 256 * 1024;
const MOST_AHEAD = 64;
/** As in jackdaw.cts: three semi-spaces of 64 MiB. */
const YOUNG_MIB = 192;
/** A thread is checked this many times in `max_task_time`: whether it works on another task, or else responds. */
const PINGS = 20;
const START_AGAIN_MS = 1000;

/** What all pools of a daemon share. */
export interface PoolParts {
  readonly config: { readonly threads: number; readonly max_task_time: string };
  readonly tools: {
    readonly logger: Logger;
    readonly meter: Meter;
    readonly clock: Clock;
    readonly tracer?: Tracer | undefined;
  };
  /** What runs since the start. */
  readonly built: Pick<Built, 'edges' | 'gate' | 'rejections'>;
}

interface Task extends IntakeTask {
  readonly number: number;
  readonly receiver: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Runs work as part of the request, if the daemon traces itself. */
  readonly within?: ReturnType<Tracer['bind']> | undefined;
}

/** A component on the main thread that has copies. */
interface Original {
  readonly key: ComponentKey;
  readonly component: Component;
}

/** A task that a thread has. */
interface UnderWay {
  readonly task: Task;
  /** From the thread, with the last batch. */
  answer: OpenAnswer | null;
  /** The answers to its batches. */
  readonly receipts: Promise<Pick<Receipt, 'refused' | 'usage'>>[];
}

type EndReason = 'time' | 'memory' | 'other';

/** Calls of a thread are no longer answered. */
class ThreadEnded extends Error {
  override readonly name = 'ThreadEnded';
  readonly reason: EndReason;

  constructor(reason: EndReason, cause: Error) {
    super('the intake thread has ended', { cause });
    this.reason = reason;
  }
}

/** The threads that run the pipelines of one configuration. */
export class IntakePool {
  readonly placements: Placements;
  readonly #parts: PoolParts;
  readonly #pipelines: readonly CopiedPipeline[];
  /** The pipelines in which the requests of a receiver run, by its id and the signal. */
  readonly #pipelinesOf = new Map<string, readonly string[]>();
  /** The components that have copies. */
  readonly #originals: ReadonlyMap<string, Original>;
  readonly #logger: Logger;
  readonly #ended: Counter;
  readonly #slots: readonly Slot[];
  /** Tasks for any thread. */
  readonly #queue = new FairTasks<Task>();
  readonly #underWay = new Map<number, UnderWay>();
  #lastNumber = 0;
  /** Unanswered tasks, and who waits until there are none. */
  #tasks = 0;
  #whenIdle: (() => void)[] = [];
  #isClosed = false;
  #endWatch = (): void => undefined;

  /** @param nodes all components of the configuration */
  constructor(placements: Placements, nodes: readonly Node[], parts: PoolParts) {
    const { config, tools } = parts;
    this.placements = placements;
    this.#parts = parts;
    this.#logger = tools.logger;
    this.#pipelines = placements.inThreads().map(copied);
    for (const { signal, receivers } of this.#pipelines)
      for (const { id } of receivers)
        this.#pipelinesOf.set(
          `${id} ${signal}`,
          this.#pipelines.filter((each) => each.signal === signal).map(({ name }) => name),
        );
    const keys = new Set(this.#pipelines.flatMap(keysOf).map(keyOf));
    this.#originals = new Map(
      nodes.flatMap(({ kind, id, pipeline, component }) => {
        const key = { kind, id, pipeline };
        return keys.has(keyOf(key)) ? [[keyOf(key), { key, component }]] : [];
      }),
    );
    this.#ended = tools.meter.counter('intake_ended_threads_total', {
      description: 'Intake threads that ended and were replaced: max_task_time (time), out of memory, other.',
      labelNames: ['reason'],
    });
    const count = this.#pipelines.length === 0 ? 0 : config.threads;
    this.#slots = Array.from({ length: count }, () => new Slot());
  }

  /** Number of threads. */
  get size(): number {
    return this.#slots.length;
  }

  /** Bytes of heap in use in the fullest thread, as of its last task. */
  get heapUsed(): number {
    return Math.max(0, ...this.#slots.map(({ current }) => Atomics.load(current, 1) * KIB));
  }

  /** Number of requests that wait for a thread. */
  get queued(): number {
    return this.#slots.reduce((sum, { pinned }) => sum + pinned.size, this.#queue.size);
  }

  /** Whether its threads run the same components as those of another pool. */
  runsAsIn(other: IntakePool): boolean {
    return (
      isDeepStrictEqual(this.#pipelines, other.#pipelines) &&
      [...this.#originals].every(([key, { component }]) => other.#originals.get(key)?.component === component)
    );
  }

  /** Resolves when all threads are ready. @throws Error if one cannot start */
  async start(): Promise<void> {
    if (this.#slots.length === 0) return;
    await Promise.all(this.#slots.map((slot) => this.#open(slot)));
    this.#watch();
  }

  /** Whether requests of a receiver are processed here now. */
  takes(receiver: string, signal: Signal): boolean {
    const pipelines = this.#pipelinesOf.get(`${receiver} ${signal}`);
    return (
      pipelines !== undefined && this.#isUsable && !this.#parts.built.edges.hasUnsampledListeners(pipelines)
    );
  }

  /** Sends a message to the copies of a component, if it has some. */
  send({ kind, id, pipeline }: Node, message: object): void {
    const key = { kind, id, pipeline };
    if (!this.#originals.has(keyOf(key))) return;
    for (const { client } of this.#slots) if (client !== null) this.#sendMessage(client, key, message);
  }

  /** Tells the threads of a listener that is new or has ended. */
  listenersChanged(listening: Listening, hasEnded: boolean): void {
    for (const { client } of this.#slots)
      if (client !== null && hasEnded) client.call('closeTap', [listening.number]).catch(() => undefined);
      else if (client !== null) openTap(client, listening);
  }

  /** Resolves when no task is left. */
  async idle(): Promise<void> {
    if (this.#tasks > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  /** Ends all threads. Unfinished tasks fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endWatch();
    this.#refuseQueued(shuttingDown());
    await Promise.all(this.#slots.map(async ({ client }) => client?.close()));
  }

  #refuseQueued(error: ConsumeError): void {
    for (const queue of [this.#queue, ...this.#slots.map(({ pinned }) => pinned)])
      for (const { reject } of queue.clear()) reject(error);
  }

  /** Whether a thread runs or starts. */
  get #isUsable(): boolean {
    return !this.#isClosed && this.#slots.some(({ client }) => client !== null);
  }

  /** See `IntakeThreads.run` of receivers. */
  async run<T>(receiver: string, task: IntakeTask): Promise<T> {
    const { gate } = this.#parts.built;
    this.#tasks++;
    try {
      gate.enter();
      return await new Promise<T>((resolve, reject) => {
        const number = (this.#lastNumber = (this.#lastNumber % 0x7fff_ffff) + 1);
        const queued: Task = {
          ...{ ...task, number, receiver, resolve: resolve as (value: unknown) => void, reject },
          within: this.#parts.tools.tracer?.bind(),
        };
        const slot = task.isPinned === true ? this.#slotOf(task.userId) : undefined;
        (slot?.pinned ?? this.#queue).add(queued);
        this.#sendNext();
      });
    } finally {
      gate.leave();
      this.#tasks--;
      if (this.#tasks === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
    }
  }

  #slotOf(userId: string): Slot | undefined {
    let hash = 0;
    for (let i = 0; i < userId.length; i++) hash = (hash * 31 + userId.charCodeAt(i)) >>> 0;
    // A thread that is down leaves the other users where they are.
    const first = hash % this.#slots.length;
    const slots = [...this.#slots.slice(first), ...this.#slots.slice(0, first)];
    return slots.find(({ client }) => client !== null);
  }

  #sendNext(): void {
    for (const slot of this.#slots) this.#fill(slot);
  }

  /** Gives a thread as many tasks as it may have. */
  #fill(slot: Slot): void {
    while (slot.client !== null && slot.hasRoom) {
      const task = slot.next(this.#queue);
      if (task === undefined) return;
      try {
        if (task.abort.aborted) throw connectionClosed();
        task.begin();
      } catch (error) {
        task.reject(error);
        continue;
      }
      void this.#send(slot, slot.client, task);
    }
  }

  async #send(slot: Slot, client: ThreadClient, task: Task): Promise<void> {
    const { receiver, number, message, transfer } = task;
    const underWay: UnderWay = { task, answer: null, receipts: [] };
    this.#underWay.set(number, underWay);
    slot.ahead.set(number, task);
    try {
      const answer = await client.call<TaskAnswer>('work', [receiver, number, message], { transfer });
      if (answer.kind === 'done') task.resolve(answer.value);
      else {
        const { status, code, message: detail, errors, headers } = answer.problem;
        task.reject(new HttpProblem(status, code, detail, { headers, ...(errors && { errors }) }));
      }
    } catch (error) {
      const { answer } = underWay;
      if (!(error instanceof ThreadEnded)) task.reject(error);
      else if (answer === null || answer.draft === null) task.reject(this.#errorOf(slot, task, error));
      else void this.#respondFor(underWay, answer, answer.draft);
    }
    this.#underWay.delete(number);
    slot.ahead.delete(number);
    this.#fill(slot);
  }

  /** Responds to a request whose thread has ended from the receipts of its batches. */
  async #respondFor(
    { task, receipts }: UnderWay,
    { refused, error }: OpenAnswer,
    draft: object,
  ): Promise<void> {
    const results = await Promise.allSettled([Promise.resolve({ refused }), ...receipts]);
    try {
      if (error !== null) throw deserializeError(error);
      const original = this.#originals.get(keyOf({ kind: 'receiver', id: task.receiver }));
      task.resolve(original?.component.respondFor?.(draft, joinResults(results)));
    } catch (error) {
      task.reject(error);
    }
  }

  /** A batch of a task, from its copy. @returns the receipt */
  #batchOf({ answer, positions }: RequestTrail, receipt: Promise<Receipt>): void {
    const underWay = this.#underWay.get(answer.task);
    if (underWay === undefined) return;
    underWay.answer = answer;
    const original = receipt.then(({ refused, ...rest }) => ({
      ...rest,
      refused: originally({ positions }, refused),
    }));
    // Used if the thread ends.
    original.catch(() => undefined);
    underWay.receipts.push(original);
  }

  /** The error of a task whose thread has ended. */
  #errorOf(slot: Slot, { number }: Task, { reason }: ThreadEnded): Error {
    if (this.#isClosed) return shuttingDown();
    if (number === slot.culprit && reason !== 'other')
      return new HttpProblem(
        422,
        'too_expensive',
        'Processing the request takes too much time or memory; send smaller batches.',
      );
    return lost();
  }

  async #open(slot: Slot): Promise<void> {
    const { built, tools } = this.#parts;
    const { port1, port2 } = new MessageChannel();
    let hasEnded = false;
    serve(port1, new MessageBatcher<ThreadMessage>(port1), {
      original: (key: ComponentKey, message: object, trail?: RequestTrail) => {
        // The request was already refused.
        if (hasEnded) throw lost();
        const within = trail && this.#underWay.get(trail.answer.task)?.task.within;
        const ask = (): unknown => this.#originals.get(keyOf(key))?.component.answerCopy?.(message);
        const answer = within === undefined ? ask() : within(ask);
        if (trail !== undefined) this.#batchOf(trail, answer as Promise<Receipt>);
        return answer;
      },
      edgeSample: (number: number, sample: EdgeSample) => built.edges.addSample(number, sample),
    });
    port1.unref();
    const current = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
    slot.current = current;
    const data: IntakeData = {
      pipelines: this.#pipelines,
      originals: port2,
      current,
      isDebugEnabled: this.#logger.isDebugEnabled(),
    };
    const counts = new CountsReader({ meter: tools.meter, edges: built.edges, rejections: built.rejections });
    const heapMib = Math.ceil(intakeHeap(this.#slots.length) / MIB);
    const client = new ThreadClient({
      module: firstModule(MODULE),
      name: 'jackdaw-intake',
      workerData: data,
      transferList: [port2],
      resourceLimits: {
        maxOldGenerationSizeMb: heapMib,
        maxYoungGenerationSizeMb: Math.min(YOUNG_MIB, heapMib),
      },
      deserializeError,
      ended: (cause) => {
        hasEnded = true;
        slot.culprit = Atomics.load(current, 0);
        return new ThreadEnded(reasonOf(slot, cause), cause);
      },
      onNotice: (notice, value) => {
        if (notice === 'counts') counts.add(value as Counts);
        else if (notice === 'log') writeNotice(this.#logger, value as LogNotice);
        else if (notice === 'worked') {
          slot.ahead.delete(value as number);
          this.#fill(slot);
        }
      },
      onCrash: (error) => {
        port1.close();
        counts.end();
        if (slot.client !== client) return;
        // The caller of this method gets the error of a thread that could not start.
        if (slot.isReady) this.#replace(slot, error);
        else slot.reset();
      },
    });
    slot.client = client;
    for (const { key, component } of this.#originals.values()) {
      const state = component.stateForCopy?.();
      if (state !== undefined) this.#sendMessage(client, key, state);
    }
    for (const listening of built.edges.listeners) openTap(client, listening);
    await client.call('ping', []);
    slot.isReady = true;
    this.#fill(slot);
  }

  #replace(slot: Slot, error: Error): void {
    const reason = reasonOf(slot, error);
    this.#ended.add(1, { reason });
    const task = this.#underWay.get(slot.culprit)?.task;
    const about = task && { user: task.userId, key: task.keyId, receiver: task.receiver, bytes: task.bytes };
    this.#logger.error(
      { err: error, reason, ...about },
      'An intake thread ended and is replaced; its current request is refused, others may be retried',
    );
    slot.reset();
    this.#openAgain(slot);
  }

  #openAgain(slot: Slot): void {
    if (this.#isClosed) return;
    this.#open(slot).catch((error: unknown) => {
      if (this.#isClosed) return;
      this.#logger.error({ err: error }, 'An intake thread could not start; trying again');
      if (!this.#isUsable) this.#refuseQueued(lost());
      else for (const { reject } of slot.pinned.clear()) reject(lost());
      this.#parts.tools.clock.after(START_AGAIN_MS, () => {
        this.#openAgain(slot);
      });
    });
  }

  #sendMessage(client: ThreadClient, key: ComponentKey, message: object): void {
    client.call('message', [key, message]).catch(() => undefined);
  }

  /** Ends threads that do not respond for too long. */
  #watch(): void {
    const most = durationMs(this.#parts.config.max_task_time);
    const timer = setInterval(() => {
      for (const slot of this.#slots) {
        const { client } = slot;
        if (client === null || client.hasEnded || !slot.isReady) continue;
        // Counted instead of timed, so that no thread ends after the machine was suspended.
        if (slot.hasMoved()) continue;
        if (slot.task !== 0 || slot.isPinging) {
          if (++slot.missed > PINGS) this.#endSlow(slot, client);
        } else if (client.underWay > 0) void slot.ping(client);
      }
    }, most / PINGS).unref();
    this.#endWatch = () => {
      clearInterval(timer);
    };
  }

  #endSlow(slot: Slot, client: ThreadClient): void {
    // If this thread was itself busy, the answer may be waiting to be read.
    setImmediate(() => {
      if (slot.client !== client || slot.hasMoved() || (slot.task === 0 && !slot.isPinging)) return;
      slot.isSlow = true;
      client.abort(new Error('It did not respond within service.intake.max_task_time'));
    });
  }
}

/** A place for a thread and its successors. */
class Slot {
  client: ThreadClient | null = null;
  /** Tasks that the thread has not begun, or has begun and not yet handed on. */
  readonly ahead = new Map<number, Task>();
  readonly pinned = new FairTasks<Task>();
  /** The number of the task that the last thread worked on when it ended. */
  culprit = 0;
  isSlow = false;
  /** Written by the thread: the number of the task that it works on, 0 between tasks, and its heap in use in KiB. */
  current: Int32Array = new Int32Array(2);
  /** {@link current} at the last check. */
  task = 0;
  isPinging = false;
  /** Checks with the same task, or since the unanswered ping. */
  missed = 0;
  /** Whether the thread has answered for the first time. */
  isReady = false;
  #wasPinned = false;

  get hasRoom(): boolean {
    if (this.ahead.size >= MOST_AHEAD) return false;
    let bytes = 0;
    for (const task of this.ahead.values()) bytes += task.bytes;
    return bytes < BYTES_AHEAD;
  }

  /** The next task: alternately one of its own and one for any thread. */
  next(shared: FairTasks<Task>): Task | undefined {
    const [first, second] = this.#wasPinned ? [shared, this.pinned] : [this.pinned, shared];
    const task = first.next() ?? second.next();
    if (task !== undefined) this.#wasPinned = task.isPinned === true;
    return task;
  }

  /** Whether the thread has begun or ended a task since the last check. */
  hasMoved(): boolean {
    const task = Atomics.load(this.current, 0);
    const hasMoved = task !== this.task;
    this.task = task;
    if (hasMoved) this.missed = 0;
    return hasMoved;
  }

  async ping(client: ThreadClient): Promise<void> {
    this.isPinging = true;
    this.missed = 0;
    try {
      await client.call('ping', []);
    } catch {
      // The thread has ended.
    }
    if (this.client === client) this.isPinging = false;
  }

  /** For the next thread. */
  reset(): void {
    this.client = null;
    this.ahead.clear();
    this.isSlow = false;
    this.isPinging = false;
    this.isReady = false;
  }
}

/** The components of a pipeline. */
function keysOf({ name, receivers, processors, exporters }: CopiedPipeline): readonly ComponentKey[] {
  return [
    ...receivers.map(({ id }) => ({ kind: 'receiver', id }) as const),
    ...processors.map(({ id }) => ({ kind: 'processor', id, pipeline: name }) as const),
    ...exporters.map(({ id }) => ({ kind: 'exporter', id }) as const),
  ];
}

function copied({ name, signal, receivers, processors, exporters }: PlannedPipeline): CopiedPipeline {
  const all = (components: readonly ConfiguredComponent[]) =>
    components.map(({ id, factory, config }) => ({
      id,
      type: factory.type,
      config,
      ...('module' in factory && { module: factory.module }),
    }));
  return {
    name,
    signal,
    receivers: all(receivers),
    processors: all(processors),
    exporters: all(exporters),
  };
}

function openTap(client: ThreadClient, { number, place, listener: { sampled } }: Listening): void {
  if (sampled === undefined) return;
  // Fails if the thread ends; the next one gets it.
  client.call('openTap', [number, place, sampled.userId]).catch(() => undefined);
}

function reasonOf({ isSlow }: Slot, error: Error): EndReason {
  if (isSlow) return 'time';
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'other';
}

function lost(): ConsumeError {
  return new ConsumeError('The intake thread of the request has ended', {
    code: 'overloaded',
    retryable: true,
    retryAfterMs: 1000,
    detail: 'The thread that processed the request has ended because of another one. Retry.',
  });
}

function shuttingDown(): ConsumeError {
  return new ConsumeError('The daemon is stopping', { code: 'shutting_down', retryable: true });
}
