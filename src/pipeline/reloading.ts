import type { Kind } from '../component/component-id.js';
import type { Host } from '../component/host.js';
import type { ReloadReport } from '../component/daemon-view.js';
import { ConfigError, formatProblem } from '../config/config-error.js';
import { DirectoryTaken } from '../config/directory-lock.js';
import { durationMs } from '../config/duration.js';
import { QueuedExporter } from '../delivery/queue/queued-exporter.js';
import { buildPipelines, type Built, type BuiltNode, type BuildTools } from './build.js';
import { Deadline } from './deadline.js';
import type { IntakePool } from './intake/intake-pool.js';
import type { IntakeThreads } from './intake/intake-threads.js';
import type { Lifecycle } from './lifecycle.js';
import type { Listeners } from './listeners.js';
import { nameOf, type Node } from './node.js';
import type { DaemonTelemetry } from './own-telemetry.js';
import type { Prepared } from './prepare.js';
import { changedKeys, keptNodes, keysThatNeedRestart } from './reload-changes.js';
import type { StatusBoard } from './status.js';

/** Time for a new component to start: without a limit, one that hangs would block all later reloads. */
const START_MS = 60_000;

/** Time for requests in progress of a component whose directory its successor needs: batches wait meanwhile. */
const HAND_OVER_MS = 2000;

export interface ReloadingParts {
  readonly tools: BuildTools;
  readonly status: StatusBoard;
  readonly lifecycle: Lifecycle;
  readonly listeners: Pick<Listeners, 'reloadTls'>;
  readonly ownTelemetry: Pick<DaemonTelemetry, 'reload'> | undefined;
  readonly intake: Pick<IntakeThreads, 'prepare' | 'use' | 'discard'>;
  /** @param built, prepared of the components to come */
  readonly hostOf: (node: Node, built: Built, prepared: Prepared) => Host;
  /** Called in the synchronous step that applies a configuration. */
  readonly applied: (prepared: Prepared) => void;
  /** Called when all components of that kind and id have ended, and the configuration has none. */
  readonly removed: (kind: Kind, id: string) => Promise<void>;
}

/** What a reload changes. */
interface Change {
  readonly next: Prepared;
  readonly staged: Built;
  readonly fresh: readonly BuiltNode[];
  readonly gone: readonly BuiltNode[];
  /** Intake threads that run replaced components. */
  replaced?: IntakePool;
}

/** Exchanges the components of a running daemon for those of another configuration. */
export class Reloading {
  readonly #parts: ReloadingParts;
  #built: Built;
  #prepared: Prepared;
  /** Resolves when the components replaced last have stopped. */
  #retired: Promise<void> = Promise.resolve();
  #running: Promise<unknown> = Promise.resolve();
  readonly #stopping = new AbortController();

  constructor(built: Built, prepared: Prepared, parts: ReloadingParts) {
    this.#built = built;
    this.#prepared = prepared;
    this.#parts = parts;
  }

  get prepared(): Prepared {
    return this.#prepared;
  }

  /**
   * Applies a configuration, or changes nothing. One at a time. Never rejects.
   *
   * @param read prepares the configuration
   */
  async reload(read: () => Promise<Prepared>): Promise<Omit<ReloadReport, 'configHash' | 'durationMs'>> {
    const turn = this.#running.then(() => this.#reload(read));
    this.#running = turn;
    return turn;
  }

  /** Rolls a reload in progress back, unless it is applied, and waits until all replaced components have stopped. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await this.#retired;
  }

  async #reload(read: () => Promise<Prepared>): Promise<Omit<ReloadReport, 'configHash' | 'durationMs'>> {
    const nothing = { added: [], removed: [], changed: [], keys: [], needsRestart: [], errors: [] };
    const kept = allOf(this.#built).length;
    // Replaced components may still use a directory that their successors would need.
    await this.#retired;
    let change: Change | null = null;
    let report: Omit<ReloadReport, 'configHash' | 'durationMs' | 'renewed' | 'notRenewed'>;
    try {
      const next = await this.#unlessStopping(read());
      const keys = changedKeys(this.#prepared.config, next.config);
      const needsRestart = keysThatNeedRestart(this.#prepared, next, keys);
      if (needsRestart.length > 0) {
        const errors = [
          `Nothing was changed: ${needsRestart.join(', ')} can only be changed by a restart; undo this change and reload, or restart the daemon`,
        ];
        report = { ...nothing, result: 'needs_restart', keys, needsRestart, errors, kept };
      } else {
        change = this.#stage(next);
        report = { ...nothing, ...(await this.#apply(change)), keys };
        if (keys.length === 0 && report.added.length + report.removed.length + report.changed.length === 0)
          report = { ...report, result: 'unchanged' };
      }
    } catch (error) {
      const isInvalid = error instanceof ConfigError;
      const errors = isInvalid ? error.problems.map(formatProblem) : [messageOf(error)];
      report = { ...nothing, result: isInvalid ? 'invalid' : 'failed', errors, kept };
    }
    const renewal = await this.#renew();
    if (change !== null && (report.result === 'applied' || report.result === 'unchanged'))
      this.#retired = this.#retire(change);
    return { ...report, ...renewal };
  }

  /** @throws ConfigError */
  #stage(next: Prepared): Change {
    const kept = keptNodes(this.#built, this.#prepared.config, next);
    const staged = buildPipelines(next.plan, this.#parts.tools, {}, { built: this.#built, kept });
    const stays = new Set(kept.values());
    const fresh = [
      ...staged.exporters,
      ...staged.processors.toReversed().flatMap((pipeline) => pipeline.toReversed()),
    ].filter((node) => !stays.has(node));
    const gone = [...this.#built.processors.flat(), ...this.#built.exporters].filter(
      (node) => !stays.has(node),
    );
    return { next, staged, fresh, gone };
  }

  /** @throws Error of a component that could not start; nothing has changed then */
  async #apply(change: Change) {
    const { next, staged, fresh, gone } = change;
    const { status, lifecycle, applied, intake } = this.#parts;
    const hostOf = (node: Node): Host => this.#parts.hostOf(node, staged, next);
    const started: BuiltNode[] = [];
    const handOvers: HandOver[] = [];
    const waiting: [BuiltNode, BuiltNode][] = [];
    let pool: IntakePool | undefined;
    try {
      for (const node of fresh) {
        status.tryOut(node);
        started.push(node);
        try {
          await this.#start(node, hostOf(node));
        } catch (error) {
          const before = gone.find((one) => nameOf(one) === nameOf(node));
          if (before === undefined || !isTaken(error)) throw error;
          waiting.push([before, node]);
        }
      }
      for (const [before, node] of waiting) {
        const handOver = new HandOver(before, node, lifecycle);
        handOvers.push(handOver);
        await this.#within(HAND_OVER_MS, (deadline) => handOver.stopOld(deadline));
        await this.#start(node, hostOf(node));
        handOver.end();
      }
      // Copies need to know what the started components know.
      pool = await this.#prepareThreads(next, staged);
    } catch (error) {
      await this.#rollBack(started, handOvers);
      for (const node of fresh) node.discard();
      throw error;
    }
    // From here to the end nothing waits: batches see either the old pipelines or the new ones.
    const { built } = this;
    staged.connect();
    if (pool !== undefined) change.replaced = intake.use(pool);
    const stays = new Set(allOf(staged).filter((node) => !fresh.includes(node)));
    built.edges.adopt(staged.edges);
    built.prices.adopt(staged.prices, (id, pipeline) =>
      [...stays].some((node) => node.id === id && node.pipeline === pipeline),
    );
    this.#built = { ...staged, edges: built.edges, prices: built.prices };
    this.#prepared = next;
    lifecycle.use(this.#built);
    status.replace(allOf(this.#built));
    applied(next);
    const names = (nodes: readonly BuiltNode[]): readonly string[] => nodes.map(nameOf);
    const [before, now] = [new Set(names(gone)), new Set(names(fresh))];
    return {
      result: 'applied' as const,
      added: [...now].filter((name) => !before.has(name)),
      removed: [...before].filter((name) => !now.has(name)),
      changed: [...now].filter((name) => before.has(name)),
      kept: stays.size,
    };
  }

  get built(): Built {
    return this.#built;
  }

  /** @throws Error that names the component */
  async #start(node: BuiltNode, host: Host): Promise<void> {
    const { lifecycle, status } = this.#parts;
    try {
      await this.#unlessStopping(this.#inTime(lifecycle.startOne(node, host)));
      const problem = status.fatalOf(node);
      if (problem !== undefined) throw new Error(problem);
    } catch (cause) {
      throw new Error(`${nameOf(node)} could not start: ${messageOf(cause)}; nothing was changed`, { cause });
    }
  }

  /** @throws Error if a thread cannot start in time */
  async #prepareThreads(next: Prepared, staged: Built): Promise<IntakePool | undefined> {
    const { intake } = this.#parts;
    const preparing = intake.prepare(next.plan, allOf(staged));
    try {
      return await this.#unlessStopping(this.#inTime(preparing));
    } catch (error) {
      preparing.then((pool) => pool && intake.discard(pool)).catch(() => undefined);
      throw error;
    }
  }

  async #rollBack(started: readonly BuiltNode[], handOvers: readonly HandOver[]): Promise<void> {
    const { lifecycle, status, hostOf, tools } = this.#parts;
    for (const handOver of handOvers.toReversed()) {
      const { before } = handOver;
      try {
        await this.#within(HAND_OVER_MS, (deadline) => handOver.undo(deadline));
        await lifecycle.startOne(before, hostOf(before, this.#built, this.#prepared));
      } catch (error) {
        const message = `it could not be started again after a failed reload: ${messageOf(error)}; restart the daemon`;
        status.report(before, { level: 'permanent', message });
        tools.logger.error({ err: error }, `${nameOf(before)}: ${message}`);
      }
      handOver.release();
    }
    // Data flows from the last started to the first.
    for (const node of started.toReversed()) {
      await this.#within(HAND_OVER_MS, (deadline) => lifecycle.stopOne(node, deadline));
      status.forget(node);
    }
  }

  /** Reads certificates, the mail server and the server of own telemetry again. */
  async #renew(): Promise<Pick<ReloadReport, 'renewed' | 'notRenewed'>> {
    const renewed: string[] = [];
    const notRenewed: { name: string; reason: string }[] = [];
    const attempt = async (name: string, work: () => Promise<boolean>): Promise<void> => {
      try {
        if (await work()) renewed.push(name);
      } catch (error) {
        notRenewed.push({ name, reason: messageOf(error) });
      }
    };
    const { listeners, ownTelemetry } = this.#parts;
    await listeners.reloadTls(attempt);
    const { smtp, service } = this.#prepared.config;
    if (ownTelemetry !== undefined)
      await attempt('own telemetry', () => ownTelemetry.reload(service.telemetry.otlp));
    for (const node of allOf(this.#built))
      await attempt(nameOf(node), async () => (await node.component.reload?.({ smtp })) ?? false);
    return { renewed, notRenewed };
  }

  /** Stops replaced and removed components, along the flow, once the batches in them are finished. Never rejects. */
  async #retire({ fresh, gone, next, replaced }: Change): Promise<void> {
    const { lifecycle, tools, intake } = this.#parts;
    await this.#within(durationMs(next.config.service.shutdown_timeout), async (deadline) => {
      if (replaced !== undefined) {
        await deadline
          .wait(() => replaced.idle(), 'the last requests of the replaced intake threads')
          .catch((error: unknown) => {
            tools.logger.error({ err: error }, `Ending intake threads after a reload: ${messageOf(error)}`);
          });
        await intake.discard(replaced);
      }
      for (const node of gone) {
        const successor = fresh.find((one) => nameOf(one) === nameOf(node));
        try {
          await deadline.wait(() => idle(node), `the last batches of ${nameOf(node)}`);
          await handQueueOver(node, successor, deadline);
        } catch (error) {
          tools.logger.error({ err: error }, `Stopping ${nameOf(node)} after a reload: ${messageOf(error)}`);
        }
        this.#warnOfRest(node, successor);
        for (const error of await lifecycle.stopOne(node, deadline))
          tools.logger.error({ err: error }, error.message);
        node.discard();
      }
    });
    const present = new Set(allOf(this.#built).map(({ kind, id }) => `${kind} ${id}`));
    for (const { kind, id } of gone) if (!present.has(`${kind} ${id}`)) await this.#parts.removed(kind, id);
  }

  /** An exporter that no longer has its queue on disk there leaves the items. */
  #warnOfRest(node: BuiltNode, successor: BuiltNode | undefined): void {
    const { component } = node;
    if (!(component instanceof QueuedExporter)) return;
    const { directory } = component;
    const now = successor?.component;
    if (now instanceof QueuedExporter && now.directory === directory) return;
    const items = component.itemsOnDisk;
    if (items > 0)
      node.logger.warn(
        { items, directory },
        `${nameOf(node)} no longer uses its queue on disk; the undelivered items stay there until an exporter of that id has the same queue.directory`,
      );
  }

  /** @throws Error if the daemon stops meanwhile */
  async #unlessStopping<T>(work: Promise<T>): Promise<T> {
    const { signal } = this.#stopping;
    let end = (): void => undefined;
    const stopped = new Promise<never>((_, reject) => {
      end = () => {
        reject(new Error('the daemon is stopping'));
      };
      if (signal.aborted) end();
      else signal.addEventListener('abort', end);
    });
    try {
      return await Promise.race([work, stopped]);
    } finally {
      signal.removeEventListener('abort', end);
    }
  }

  /** @throws Error after {@link START_MS} */
  async #inTime<T>(start: Promise<T>): Promise<T> {
    let cancel = (): void => undefined;
    const late = new Promise<never>((_, reject) => {
      cancel = this.#parts.tools.clock.after(START_MS, () => {
        reject(new Error(`it did not start within ${START_MS / 1000} s`));
      });
    });
    try {
      return await Promise.race([start, late]);
    } finally {
      cancel();
    }
  }

  async #within<T>(ms: number, work: (deadline: Deadline) => Promise<T>): Promise<T> {
    const deadline = new Deadline(ms, this.#parts.tools.clock);
    try {
      return await work(deadline);
    } finally {
      deadline.cancel();
    }
  }
}

/** A component has to stop before its successor can start, because both use the same directory. Batches wait meanwhile. */
class HandOver {
  readonly before: BuiltNode;
  readonly #node: BuiltNode;
  readonly #lifecycle: Lifecycle;
  #held: readonly (() => void)[] = [];

  constructor(before: BuiltNode, node: BuiltNode, lifecycle: Lifecycle) {
    this.before = before;
    this.#node = node;
    this.#lifecycle = lifecycle;
  }

  /** The start of the successor was tried in vain: a new one is created for the next start. */
  async stopOld(deadline: Deadline): Promise<void> {
    this.#hold();
    await this.#lifecycle.stopOne(this.#node, deadline);
    this.#node.recreate();
    await this.#stop(this.before, deadline);
  }

  /** Lets the waiting batches go to the successor. */
  end(): void {
    for (const [signal, input] of this.before.inputs) {
      const target = this.#node.inputs.get(signal);
      if (target !== undefined) input.connect(target);
    }
    this.release();
  }

  /** Stops the successor; the old component can then be started again. */
  async undo(deadline: Deadline): Promise<void> {
    this.#hold();
    await this.#stop(this.#node, deadline);
    this.before.recreate();
  }

  release(): void {
    for (const release of this.#held) release();
    this.#held = [];
  }

  #hold(): void {
    if (this.#held.length === 0) this.#held = [...this.before.inputs.values()].map((input) => input.hold());
  }

  async #stop(node: BuiltNode, deadline: Deadline): Promise<void> {
    // After the deadline, batches that are left get an error of the stopped component, which may be retried.
    await deadline.wait(() => idle(node), nameOf(node)).catch(() => undefined);
    await this.#lifecycle.stopOne(node, deadline, { isShown: false });
  }
}

function allOf({ receivers, processors, exporters, extensions }: Built): readonly BuiltNode[] {
  return [...receivers, ...processors.flat(), ...exporters, ...extensions];
}

async function idle(node: BuiltNode): Promise<void> {
  await Promise.all([...node.inputs.values()].map((input) => input.idle()));
}

async function handQueueOver(
  { component: before }: BuiltNode,
  successor: BuiltNode | undefined,
  deadline: Deadline,
): Promise<void> {
  const now = successor?.component;
  if (before instanceof QueuedExporter && now instanceof QueuedExporter && before.directory === null)
    await deadline.wait(() => now.takeOver(before, deadline.abort), 'the hand-over of a queue');
}

function isTaken(error: unknown): boolean {
  if (error instanceof DirectoryTaken) return true;
  return error instanceof Error && error.cause !== undefined && isTaken(error.cause);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
