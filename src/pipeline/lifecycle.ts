import type { Host } from '../component/host.js';
import type { Built } from './build.js';
import type { Deadline } from './deadline.js';
import { nameOf, type Node } from './node.js';
import type { StatusBoard } from './status.js';

/** Starts components against the flow of data and stops them along it. */
export class Lifecycle {
  readonly #built: Built;
  readonly #status: StatusBoard;
  readonly #started = new Set<Node>();

  constructor(built: Built, status: StatusBoard) {
    this.#built = built;
    this.#status = status;
  }

  /**
   * Extensions, exporters, processors from the last to the first, receivers: whatever starts can already send.
   *
   * @param afterStart called when a component has started
   * @throws Error naming the first component that could not start; what started before it has to be shut down
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
      ...processors.flatMap((pipeline) => pipeline.toReversed()),
      ...receivers,
    ];
    for (const node of order) {
      if (abort.aborted) return;
      this.#status.enter(node, 'starting');
      // It counts as started from here on: a start that failed half-way may hold something that has to be released.
      this.#started.add(node);
      try {
        await node.component.start?.(hostOf(node));
        await afterStart(node);
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`${nameOf(node)} could not start: ${reason}`, { cause });
      }
      this.#status.enter(node, 'ok');
    }
  }

  /**
   * Receivers; then what they took is finished; processors from the first to the last; exporters. Every component is
   * asked, whatever happened to the others. @returns what went wrong
   */
  async stopPipelines(deadline: Deadline): Promise<readonly Error[]> {
    const { exporters, processors, receivers, gate } = this.#built;
    const errors: Error[] = [];
    await this.#stopAll(receivers, deadline, errors);
    await attempt(deadline, 'the last batches', () => gate.close(), errors);
    await Promise.all(
      processors.map(async (pipeline) => {
        for (const node of pipeline) await this.#stop(node, deadline, errors);
      }),
    );
    await this.#stopAll(exporters, deadline, errors);
    return errors;
  }

  /** Extensions, the last started first. @returns what went wrong */
  async stopExtensions(deadline: Deadline): Promise<readonly Error[]> {
    const errors: Error[] = [];
    for (const node of this.#built.extensions.toReversed()) await this.#stop(node, deadline, errors);
    return errors;
  }

  async #stopAll(nodes: readonly Node[], deadline: Deadline, errors: Error[]): Promise<void> {
    await Promise.all(nodes.map((node) => this.#stop(node, deadline, errors)));
  }

  async #stop(node: Node, deadline: Deadline, errors: Error[]): Promise<void> {
    if (!this.#started.delete(node)) return;
    this.#status.enter(node, 'stopping');
    await attempt(deadline, nameOf(node), async () => node.component.shutdown?.(deadline.abort), errors);
    this.#status.enter(node, 'stopped');
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
