import type { Agents } from '../stats/agents.js';
import type { Read } from '../segments/read.js';
import type { Writer } from '../write/writer.js';
import type { Findings } from './rebuild-findings.js';
import type { Services } from '../write/services.js';

/** Amount of work that a rebuild does at once. */
export interface RebuildSize {
  /** Spans read while a read connection is held. */
  readonly page: number;
  /** Spans and traces sorted by trace at once. */
  readonly part: number;
}

/** A page takes less than 0.1 s, and a part about 40 MB. */
export const REBUILD_SIZE: RebuildSize = { page: 20_000, part: 500_000 };

/** Dependencies of a rebuild of the service map. */
export interface RebuildParts {
  readonly read: Read;
  readonly writer: Writer;
  readonly services: Services;
  readonly agents: Agents;
  readonly size: RebuildSize;
}

/** A running rebuild. */
export interface RebuildWork extends RebuildParts {
  /** Whether to leave the store unchanged. */
  readonly dryRun: boolean;
  readonly findings: Findings;
  /** Called between steps. @throws if the store is closing */
  readonly throwIfStopped: () => void;
}
