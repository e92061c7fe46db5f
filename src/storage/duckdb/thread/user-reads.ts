import { PastReads } from '../read/past-reads.js';
import type { ItemCounts } from '../write/item-counts.js';
import type { Agents } from '../stats/agents.js';
import type { KeptFigures } from '../stats/kept-figures.js';
import type { RunFigures } from '../stats/run-figures.js';
import type { IdIndex } from '../index/id-index.js';
import type { Services } from '../write/services.js';
import { AgentReads } from '../read/agent-reads.js';
import { MapReads } from '../read/map-reads.js';
import { ModelReads } from '../read/model-reads.js';
import { RunReads } from '../read/run-reads.js';
import { SeriesReads } from '../read/series-reads.js';
import { SessionReads } from '../read/session-reads.js';
import type { StoreReads } from './store-reads.js';
import type { StoredLogs } from './stored-logs.js';
import type { StoredMetrics } from './stored-metrics.js';
import type { StoredPrompts } from './stored-prompts.js';
import { UsageReads } from './usage-reads.js';

/** What is known without reading the tables, or reads them itself. */
interface Known {
  readonly agents: Agents;
  readonly figures: RunFigures;
  readonly kept: KeptFigures;
  readonly traces: IdIndex;
  readonly withEvents: IdIndex;
  readonly services: Services;
  readonly counts: ItemCounts;
  readonly metrics: StoredMetrics;
  readonly logs: StoredLogs;
  readonly prompts: StoredPrompts;
}

export function openUserReads(known: Known): StoreReads {
  const { agents, figures, kept, services, counts, metrics, logs, prompts } = known;
  return {
    runs: new RunReads(known),
    agents: new AgentReads({ agents, figures, days: kept.days }),
    models: new ModelReads(agents),
    series: new SeriesReads({ agents, cells: kept.cells }),
    sessions: new SessionReads(agents),
    map: new MapReads(),
    past: new PastReads({ agents, services, metrics }),
    usage: new UsageReads(counts),
    metrics,
    logs,
    prompts,
  };
}
