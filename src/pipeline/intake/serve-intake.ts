import { getHeapStatistics } from 'node:v8';
import type { MessagePort } from 'node:worker_threads';
import type { Component } from '../../component/component.js';
import type { EdgePlace, EdgeSample } from '../../component/edge-listener.js';
import type { Factory } from '../../component/factory.js';
import { HttpProblem } from '../../component/http.js';
import type { Original, RequestInThread } from '../../component/intake.js';
import type { ConfiguredComponent, FactoryOf } from '../../config/config.js';
import { deserializeError } from '../../storage/contracts/errors.js';
import { systemClock } from '../../telemetry/system-clock.js';
import { MessageBatcher } from '../../worker/message-batcher.js';
import { noticeLogger } from '../../worker/notice-logger.js';
import { PortClient } from '../../worker/port-client.js';
import type { ThreadMessage } from '../../worker/thread-protocol.js';
import { serve } from '../../worker/thread-server.js';
import { buildPipelines } from '../build.js';
import type { Edges } from '../edges.js';
import type { Node } from '../node.js';
import type { PlannedPipeline } from '../plan.js';
import { Registry } from '../registry.js';
import {
  keyOf,
  type ComponentKey,
  type CopiedComponent,
  type CopiedPipeline,
  type IntakeData,
  type TaskAnswer,
} from './protocol.js';
import { Recorder } from './recorder.js';
import { RequestTrail, type OpenAnswer } from './request-trail.js';
import { EdgeTap } from '../../api/resources/stream/edge-tap.js';

const KIB = 1024;
/** Tasks that take longer are reported at once; others at the end of the turn, together. */
const LONG_MS = 2;

/** Runs in an intake thread: copies of the components of some pipelines, which process requests. */
export async function serveIntake(
  port: MessagePort,
  data: IntakeData,
  builtin: readonly Factory[],
): Promise<void> {
  const factories = [...builtin, ...(await pluginFactories(data.pipelines))];
  const batcher = new MessageBatcher<ThreadMessage>(port);
  const notify = (notice: string, value: unknown, isUrgent = false): void => {
    batcher.post({ kind: 'notice', notice, value }, [], isUrgent);
  };
  const recorder = new Recorder();
  const originals = new PortClient(data.originals, { deserializeError, onNotice: () => undefined });
  let isCreated = false;
  const { copies, edges } = createCopies(data, factories, { recorder, originals }, (line) => {
    // What components log when they are created is logged on the main thread.
    if (isCreated) notify('log', line);
  });
  isCreated = true;
  const taps = new ThreadTaps(edges, (number, sample) => originals.call('edgeSample', [number, sample]));
  const report = (): void => {
    const counts = recorder.take();
    if (counts !== undefined) notify('counts', counts);
  };
  const { current } = data;
  const turns = new Turns();
  const work = async (receiver: string, task: number, message: object): Promise<TaskAnswer> => {
    /** A part of the work, up to its first wait. */
    const step = async <T>(part: () => T): Promise<{ readonly result: T; readonly ms: number }> => {
      await turns.begin();
      const begun = performance.now();
      Atomics.store(current, 0, task);
      try {
        return { result: part(), ms: performance.now() - begun };
      } finally {
        Atomics.store(current, 0, 0);
        Atomics.store(current, 1, Math.round(getHeapStatistics().used_heap_size / KIB));
        turns.end();
      }
    };
    const answer: OpenAnswer = { task, draft: null, refused: [], error: null };
    const request: RequestInThread = {
      trail: new RequestTrail(answer),
      draft: (draft) => {
        answer.draft = draft;
      },
      resume: async (part) => (await step(part)).result,
    };
    const { result: done, ms } = await step(async () =>
      copyOf(copies, { kind: 'receiver', id: receiver }).work?.(message, request),
    );
    notify('worked', task, ms > LONG_MS);
    try {
      return { kind: 'done', value: await done };
    } catch (error) {
      if (!(error instanceof HttpProblem)) throw error;
      const { status, code, message: text, errors, headers } = error;
      return { kind: 'problem', problem: { status, code, message: text, errors, headers } };
    } finally {
      report();
    }
  };
  serve(port, batcher, {
    work,
    ping: () => null,
    message: (key: ComponentKey, message: object) => {
      copyOf(copies, key).onMessage?.(message);
    },
    openTap: (number: number, place: EdgePlace, userId: string | null) => {
      taps.open(number, place, userId);
    },
    closeTap: (number: number) => {
      taps.close(number);
    },
  });
}

/** The factories of the plugins in some pipelines. @throws Error if one cannot be loaded */
async function pluginFactories(pipelines: readonly CopiedPipeline[]): Promise<readonly Factory[]> {
  const modules = new Map(
    pipelines.flatMap(({ processors }) =>
      processors.flatMap(({ module }) => (module ? [[JSON.stringify(module), module] as const] : [])),
    ),
  );
  if (modules.size === 0) return [];
  const { loadModule } = await import('../load-registry.js');
  return (await Promise.all([...modules.values()].map(async (module) => loadModule(module)))).flat();
}

/**
 * Gives each task a turn of the event loop of its own: tasks arrive several in a message, and what one posts must not wait for the next.
 */
class Turns {
  readonly #waiting: (() => void)[] = [];
  #isBusy = false;

  /** Resolves when a task may begin. */
  async begin(): Promise<void> {
    if (this.#isBusy) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#isBusy = true;
  }

  /** The task has done its own work, and may wait for others. */
  end(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isBusy = false;
    // Posts are sent in an immediate as well.
    else setImmediate(() => setImmediate(next));
  }
}

function copyOf(copies: ReadonlyMap<string, Component>, key: ComponentKey): Component {
  const copy = copies.get(keyOf(key));
  if (copy === undefined) throw new Error(`the thread has no ${key.kind} ${key.id}`);
  return copy;
}

function createCopies(
  { pipelines, isDebugEnabled }: IntakeData,
  factories: readonly Factory[],
  { recorder, originals }: { readonly recorder: Recorder; readonly originals: PortClient },
  log: Parameters<typeof noticeLogger>[0],
): { readonly copies: ReadonlyMap<string, Component>; readonly edges: Edges } {
  const tools = { logger: noticeLogger(log, isDebugEnabled), meter: recorder, clock: systemClock };
  const plan = { extensions: [], pipelines: plannedOf(pipelines, new Registry(factories)) };
  const { rejections } = recorder;
  const observers = { edge: (place: Parameters<Recorder['edge']>[0]) => recorder.edge(place), rejections };
  const built = buildPipelines(plan, tools, observers);
  const nodes: readonly Node[] = [...built.receivers, ...built.processors.flat(), ...built.exporters];
  const copies = new Map(
    nodes.map(({ kind, id, pipeline, component }) => {
      const key: ComponentKey = { kind, id, pipeline };
      const original: Original = {
        call: (message, transfer = [], trail) =>
          originals.call('original', [key, message, trail], { transfer, isDeferred: true }),
        rejections,
      };
      component.startCopy?.(original);
      return [keyOf(key), component];
    }),
  );
  return { copies, edges: built.edges };
}

function plannedOf(pipelines: readonly CopiedPipeline[], registry: Registry): readonly PlannedPipeline[] {
  const known = new Map<string, ConfiguredComponent>();
  const configured = <K extends 'receiver' | 'processor' | 'exporter'>(
    kind: K,
    { id, type, config }: CopiedComponent,
  ): ConfiguredComponent<FactoryOf<K>> => {
    const found = known.get(`${kind} ${id}`);
    if (found !== undefined) return found as ConfiguredComponent<FactoryOf<K>>;
    const factory = registry.find(kind, type);
    if (factory === undefined) throw new Error(`the thread knows no ${kind} of type ${type}`);
    const position = { file: '', line: 0, column: 0 };
    const made = { kind, id, factory, position, config, isValid: true };
    known.set(`${kind} ${id}`, made);
    return made;
  };
  return pipelines.map(({ name, signal, receivers, processors, exporters }) => ({
    name,
    signal,
    receivers: receivers.map((each) => configured('receiver', each)),
    // A connector runs on the main thread, and so does all that it passes on.
    connectors: [],
    processors: processors.map((each) => configured('processor', each)),
    exporters: exporters.map((each) => configured('exporter', each)),
  }));
}

/** In an intake thread: samples edges for listeners on the main thread. */
class ThreadTaps {
  readonly #edges: Edges;
  readonly #send: (number: number, sample: EdgeSample) => Promise<void>;
  /** By number of the listener. */
  readonly #open = new Map<number, () => void>();

  /** @param send gives a sample to a listener; resolves when it was read */
  constructor(edges: Edges, send: (number: number, sample: EdgeSample) => Promise<void>) {
    this.#edges = edges;
    this.#send = send;
  }

  /** Does nothing for an edge of a pipeline on the main thread. */
  open(number: number, place: EdgePlace, userId: string | null): void {
    let isSending = false;
    const send = async (): Promise<void> => {
      if (isSending) return;
      isSending = true;
      // One sample at a time: meanwhile the tap keeps some items and counts the others.
      for (let sample = tap.takeSample(); isFilled(sample); sample = tap.takeSample())
        await this.#send(number, sample);
      isSending = false;
    };
    const wake = (): void => {
      // Fails only if the main thread is about to end this one.
      send().catch(() => undefined);
    };
    const tap = new EdgeTap(userId, wake, systemClock);
    const leave = this.#edges.listen(place, tap);
    if (leave !== null) this.#open.set(number, leave);
  }

  close(number: number): void {
    this.#open.get(number)?.();
    this.#open.delete(number);
  }
}

function isFilled({ items, lost }: EdgeSample): boolean {
  return items.length > 0 || lost > 0;
}
