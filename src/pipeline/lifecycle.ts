import type { Host } from '../component/host.js';
import type { Built } from './build.js';
import type { Deadline } from './deadline.js';
import { nameOf, type Node } from './node.js';
import type { StatusBoard } from './status.js';

/** Starts components against the data flow and stops them along it. */
export class Lifecycle {
  #built: Built;
  readonly #status: StatusBoard;
  readonly #started = new Set<Node>();
  /** The start that was in progress when a stop was requested. */
  #starting: { readonly node: Node; readonly start: Promise<unknown> } | undefined;

  constructor(built: Built, status: StatusBoard) {
    this.#built = built;
    this.#status = status;
  }

  /**
   * Starts extensions, exporters, processors from the last to the first, and receivers, because a started component can send
   * immediately.
   *
   * @param afterStart called when a component has started
   * @param abort cancels the start, even while a component is starting; the stop then waits for that component, within its
   *   deadline
   * @throws Error naming the first component that could not start; components started before it must be shut down
   */
  async start(
    hostOf: (node: Node) => Host,
    afterStart: (node: Node) => Promise<void>,
    abort: AbortSignal,
  ): Promise<void> {
    const { extensions, exporters, processors, receivers } = this.#built;
    const order = [
      ...extensions,
      ...exporters,
      ...processors.toReversed().flatMap((pipeline) => pipeline.toReversed()),
      ...receivers,
    ];
    for (const node of order) {
      if (abort.aborted) return;
      this.#status.enter(node, 'starting');
      // It counts as started from here on: a start that fails halfway may hold resources that must be released.
      this.#started.add(node);
      try {
        const start = this.#start(node, hostOf(node));
        if (!(await hasStarted(start, abort))) return;
        await afterStart(node);
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`${nameOf(node)} could not start: ${reason}`, { cause });
      }
      this.#status.enter(node, 'ok');
    }
  }

  /** After a reload: the components to stop at the end. */
  use(built: Built): void {
    this.#built = built;
  }

  /**
   * Starts a component of a reload.
   *
   * @throws the error of its start; it must then be stopped
   */
  async startOne(node: Node, host: Host): Promise<void> {
    this.#status.enter(node, 'starting');
    this.#started.add(node);
    await node.component.start?.(host);
    this.#status.enter(node, 'ok');
  }

  /** @param isShown whether the daemon is not ready meanwhile @returns the errors */
  async stopOne(node: Node, deadline: Deadline, { isShown = true } = {}): Promise<readonly Error[]> {
    const errors: Error[] = [];
    await this.#stop(node, deadline, errors, isShown);
    return errors;
  }

  async #start(node: Node, host: Host): Promise<void> {
    const start = (async () => node.component.start?.(host))();
    this.#starting = { node, start };
    await start;
    this.#starting = undefined;
  }

  /**
   * Stops receivers, finishes accepted batches, then stops processors from the first to the last, and exporters. Every component
   * is shut down even if others failed.
   *
   * @returns the errors
   */
  async stopPipelines(deadline: Deadline): Promise<readonly Error[]> {
    const { exporters, levels, receivers, gate } = this.#built;
    const errors: Error[] = [];
    await this.#stopAll(receivers, deadline, errors);
    await attempt(deadline, 'the last batches', () => gate.close(), errors);
    for (const level of levels)
      await Promise.all(
        level.map(async (pipeline) => {
          for (const node of pipeline) await this.#stop(node, deadline, errors);
        }),
      );
    await this.#stopAll(exporters, deadline, errors);
    return errors;
  }

  /**
   * Stops extensions, the last started first.
   *
   * @returns the errors
   */
  async stopExtensions(deadline: Deadline): Promise<readonly Error[]> {
    const errors: Error[] = [];
    for (const node of this.#built.extensions.toReversed()) await this.#stop(node, deadline, errors);
    return errors;
  }

  async #stopAll(nodes: readonly Node[], deadline: Deadline, errors: Error[]): Promise<void> {
    await Promise.all(nodes.map((node) => this.#stop(node, deadline, errors)));
  }

  async #stop(node: Node, deadline: Deadline, errors: Error[], isShown = true): Promise<void> {
    if (!this.#started.delete(node)) return;
    const start = this.#starting?.node === node ? this.#starting.start : undefined;
    if (start !== undefined)
      await attempt(deadline, `the start of ${nameOf(node)}`, () => start.catch(() => undefined), errors);
    if (isShown) this.#status.enter(node, 'stopping');
    await attempt(deadline, nameOf(node), async () => node.component.shutdown?.(deadline.abort), errors);
    if (isShown) this.#status.enter(node, 'stopped');
  }
}

/**
 * Waits for a start, or until the signal is aborted.
 *
 * @returns whether it has started
 * @throws errors of the start until then
 */
async function hasStarted(start: Promise<void>, abort: AbortSignal): Promise<boolean> {
  let end = (): void => undefined;
  const aborted = new Promise<void>((resolve) => {
    end = resolve;
    abort.addEventListener('abort', end);
  });
  try {
    await Promise.race([start, aborted]);
    return !abort.aborted;
  } finally {
    abort.removeEventListener('abort', end);
  }
}

async function attempt(
  deadline: Deadline,
  what: string,
  work: () => Promise<unknown>,
  errors: Error[],
): Promise<void> {
  try {
    await deadline.wait(work, what);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    errors.push(new Error(`Stopping ${what}: ${reason}`, { cause }));
  }
}
