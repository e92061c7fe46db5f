import type { Meter } from '../component/telemetry.js';
import type { Status } from '../component/status.js';
import {
  COMPONENT_STATES,
  type ComponentHealth,
  type DaemonHealth,
  type DaemonPhase,
} from '../component/daemon-health.js';
import { nameOf, type Node } from './node.js';

type State = ComponentHealth['state'];

/** A component that reported that the daemon must stop. */
export interface Fatality {
  readonly component: string;
  readonly message: string;
}

/** The status of every component. */
export class StatusBoard {
  readonly #states = new Map<Node, { readonly state: State; readonly message?: string }>();
  #phase: DaemonPhase = 'starting';
  #fatality: Fatality | undefined;
  readonly #onFatal: (fatality: Fatality) => void;
  /** Nodes that start for a reload: not shown yet, and not able to stop the daemon. */
  readonly #onTrial = new Set<Node>();

  /** @param onFatal called once, when the first component reports `fatal` */
  constructor(nodes: readonly Node[], onFatal: (fatality: Fatality) => void) {
    this.#onFatal = onFatal;
    for (const node of nodes) this.#states.set(node, { state: 'created' });
  }

  /** Adds a component that a reload starts. It is not shown until {@link replace}. */
  tryOut(node: Node): void {
    this.#onTrial.add(node);
    this.#states.set(node, { state: 'created' });
  }

  /** The problem of a component on trial that cannot run. */
  fatalOf(node: Node): string | undefined {
    const status = this.#states.get(node);
    return status?.state === 'fatal' ? (status.message ?? 'no reason given') : undefined;
  }

  /** Shows the components on trial, and forgets others. @param order of all components from now on */
  replace(order: readonly Node[]): void {
    const states = new Map(this.#states);
    this.#states.clear();
    this.#onTrial.clear();
    for (const node of order) this.#states.set(node, states.get(node) ?? { state: 'created' });
  }

  /** Forgets a component that did not start. */
  forget(node: Node): void {
    this.#onTrial.delete(node);
    this.#states.delete(node);
  }

  set phase(phase: DaemonPhase) {
    this.#phase = phase;
  }

  /** The first fatal status, if there was one. */
  get fatality(): Fatality | undefined {
    return this.#fatality;
  }

  /** Records a step of the component's life cycle, reported by the engine. */
  enter(node: Node, state: 'starting' | 'ok' | 'stopping' | 'stopped'): void {
    if (!this.#states.has(node)) return;
    // A component that reported a problem during its start keeps that status.
    const current = this.#states.get(node)?.state;
    if (state === 'ok' && current !== 'starting') return;
    this.#states.set(node, { state });
  }

  /** Records a status that the component reports. Reports during and after its stop are ignored. */
  report(node: Node, status: Status): void {
    const before = this.#states.get(node);
    if (before === undefined || before.state === 'stopping' || before.state === 'stopped') return;
    this.#states.set(node, {
      state: status.level,
      ...(status.message === undefined ? {} : { message: status.message }),
    });
    if (before.state !== status.level || before.message !== status.message) log(node, status);
    if (status.level === 'fatal' && !this.#fatality && !this.#onTrial.has(node)) {
      this.#fatality = { component: nameOf(node), message: status.message ?? 'no reason given' };
      this.#onFatal(this.#fatality);
    }
  }

  health(): DaemonHealth {
    const shown = [...this.#states].filter(([node]) => !this.#onTrial.has(node));
    const components = shown.map(([{ kind, id, pipeline }, status]): ComponentHealth => ({
      kind,
      id,
      ...(pipeline === undefined ? {} : { pipeline }),
      ...status,
    }));
    const isReady =
      this.#phase === 'running' && components.every(({ state }) => state === 'ok' || state === 'degraded');
    return { phase: this.#phase, isReady, components };
  }
}

/**
 * Exports the state of every component: 1 for its current state, 0 for the others.
 *
 * @returns a function that ends that, for when the components change
 */
export function observeStates(meter: Meter, health: () => DaemonHealth): () => void {
  const labelNames = ['kind', 'component', 'pipeline', 'state'];
  const description = 'State of a component: 1 for its current state, 0 for the others.';
  const ends = health().components.flatMap(({ kind, id, pipeline = '' }, index) =>
    COMPONENT_STATES.map((state) =>
      meter.gauge(
        'component_state',
        { description, labelNames },
        () => Number(health().components[index]?.state === state),
        { kind, component: id, pipeline, state },
      ),
    ),
  );
  return () => {
    for (const end of ends) end();
  };
}

function log(node: Node, { level, message }: Status): void {
  const fields = { status: level };
  const text = `${nameOf(node)} is ${level}${message === undefined ? '' : `: ${message}`}`;
  switch (level) {
    case 'ok':
      node.logger.info(fields, text);
      break;
    case 'degraded':
    case 'recoverable':
      node.logger.warn(fields, text);
      break;
    case 'permanent':
    case 'fatal':
      node.logger.error(fields, text);
      break;
  }
}
