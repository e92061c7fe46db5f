import type { StatusLevel } from './status.js';
import type { Kind } from './component-id.js';

/** State of the daemon. `stopping`: it takes no new work, and finishes accepted work. */
export type DaemonPhase = 'starting' | 'running' | 'stopping' | 'stopped';

/** Every state that a component may have. */
export const COMPONENT_STATES = [
  'created',
  'starting',
  'ok',
  'degraded',
  'recoverable',
  'permanent',
  'fatal',
  'stopping',
  'stopped',
] as const satisfies readonly ('created' | 'starting' | StatusLevel | 'stopping' | 'stopped')[];

/** The state of one component. */
export interface ComponentHealth {
  readonly kind: Kind;
  readonly id: string;
  /** For a processor, the pipeline it was created for. */
  readonly pipeline?: string;
  readonly state: (typeof COMPONENT_STATES)[number];
  readonly message?: string;
}

/** The state of the daemon. */
export interface DaemonHealth {
  readonly phase: DaemonPhase;
  /** Whether it should be sent work: it is running, and every component is ok or degraded. */
  readonly isReady: boolean;
  readonly components: readonly ComponentHealth[];
}
