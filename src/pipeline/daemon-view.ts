import type { DaemonView } from '../component/daemon-view.js';
import type { ConfiguredComponent } from '../config/config.js';
import { readVersion } from '../config/package-version.js';
import type { Clock } from '../component/telemetry.js';
import { redactor } from '../telemetry/redact.js';
import type { Edges } from './edges.js';
import type { Placements } from './intake/placements.js';
import type { Prepared } from './prepare.js';

/** The administrators' view of the daemon. Call it when the daemon has started. */
export function daemonView(
  { config, plan }: Prepared,
  edges: Edges,
  clock: Clock,
  placements?: Placements,
): DaemonView {
  return {
    version: readVersion(),
    startedAt: clock.now(),
    pipelines: plan.pipelines.map((pipeline) => {
      const { name, signal, receivers, connectors, processors, exporters } = pipeline;
      const inThreads = receivers.filter((receiver) => placements?.of(pipeline, receiver) === 'any');
      return {
        name,
        signal,
        receivers: [...receivers, ...connectors].map(idOf),
        threadedReceivers: inThreads.map(idOf),
        processors: processors.map(idOf),
        exporters: exporters.map(idOf),
      };
    }),
    edges: () => edges.stats(),
    listen: (place, listener) => edges.listen(place, listener),
    // A section may contain the secret of another one.
    formatConfig: () => redactor(config.secrets)(config.print()),
  };
}

function idOf({ id }: ConfiguredComponent): string {
  return id;
}
