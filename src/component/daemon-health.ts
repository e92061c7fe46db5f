import type { StatusLevel } from './status.js';
import type { Kind } from './component-id.js';

/** What the daemon is doing. `stopping`: no new work is taken, what was taken is being finished. */
export type DaemonPhase = 'starting' | 'running' | 'stopping' | 'stopped';

/** How one component is. */
export interface ComponentHealth {
  readonly kind: Kind;
  readonly id: string;
  /** Of a processor: the pipeline it was created for. */
  readonly pipeline?: string;
  readonly state: 'created' | 'starting' | StatusLevel | 'stopping' | 'stopped';
  readonly message?: string;
}

/** How the daemon is. */
export interface DaemonHealth {
  readonly phase: DaemonPhase;
  /** Whether it should be sent work: it runs, and every component is ok or degraded. */
  readonly isReady: boolean;
  readonly components: readonly ComponentHealth[];
}
