import type { Agents } from '../stats/agents.js';
import type { Read } from '../segments/read.js';
import type { Writer } from '../write/writer.js';
import type { Findings } from './rebuild-findings.js';
import type { Services } from '../write/services.js';

/** How much a rebuild does at once. */
export interface RebuildSize {
  /** How many spans are looked at while a read connection is held. */
  readonly page: number;
  /** How many spans and traces are sorted by trace. */
  readonly part: number;
}

/** A page takes less than a tenth of a second, and a part some 40 MB. */
export const REBUILD_SIZE: RebuildSize = { page: 20_000, part: 500_000 };

/** What a rebuild of the service map works with. */
export interface RebuildParts {
  readonly read: Read;
  readonly writer: Writer;
  readonly services: Services;
  readonly agents: Agents;
  readonly size: RebuildSize;
}

/** A rebuild under way. */
export interface RebuildWork extends RebuildParts {
  /** Whether nothing is to be changed. */
  readonly dryRun: boolean;
  readonly findings: Findings;
  /** Called between any two steps of the work. @throws when the store is closing */
  readonly throwIfStopped: () => void;
}
