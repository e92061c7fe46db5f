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

  /** @param onFatal called once, when the first component reports `fatal` */
  constructor(nodes: readonly Node[], onFatal: (fatality: Fatality) => void) {
    this.#onFatal = onFatal;
    for (const node of nodes) this.#states.set(node, { state: 'created' });
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
    // A component that reported a problem during its start keeps that status.
    const current = this.#states.get(node)?.state;
    if (state === 'ok' && current !== 'starting') return;
    this.#states.set(node, { state });
  }

  /** Records a status that the component reports. Reports during and after its stop are ignored. */
  report(node: Node, status: Status): void {
    const before = this.#states.get(node);
    if (before?.state === 'stopping' || before?.state === 'stopped') return;
    this.#states.set(node, {
      state: status.level,
      ...(status.message === undefined ? {} : { message: status.message }),
    });
    if (before?.state !== status.level || before.message !== status.message) log(node, status);
    if (status.level === 'fatal' && !this.#fatality) {
      this.#fatality = { component: nameOf(node), message: status.message ?? 'no reason given' };
      this.#onFatal(this.#fatality);
    }
  }

  health(): DaemonHealth {
    const components = [...this.#states].map(([{ kind, id, pipeline }, status]): ComponentHealth => ({
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

/** Exports the state of every component: 1 for its current state, 0 for the others. */
export function observeStates(meter: Meter, health: () => DaemonHealth): void {
  const labelNames = ['kind', 'component', 'pipeline', 'state'];
  const description = 'State of a component: 1 for its current state, 0 for the others.';
  health().components.forEach(({ kind, id, pipeline = '' }, index) => {
    for (const state of COMPONENT_STATES)
      meter.gauge(
        'component_state',
        { description, labelNames },
        () => Number(health().components[index]?.state === state),
        { kind, component: id, pipeline, state },
      );
  });
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
