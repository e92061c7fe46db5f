import type { DaemonView } from '../component/daemon-view.js';
import type { ConfiguredComponent } from '../config/config.js';
import { readVersion } from '../config/package-version.js';
import type { Clock } from '../component/telemetry.js';
import { redactor } from '../telemetry/redact.js';
import type { Edges } from './edges.js';
import type { Prepared } from './prepare.js';

/** The administrators' view of the daemon. Call it when the daemon has started. */
export function daemonView({ config, plan }: Prepared, edges: Edges, clock: Clock): DaemonView {
  return {
    version: readVersion(),
    startedAt: clock.now(),
    pipelines: plan.pipelines.map(({ name, signal, receivers, processors, exporters }) => ({
      name,
      signal,
      receivers: receivers.map(idOf),
      processors: processors.map(idOf),
      exporters: exporters.map(idOf),
    })),
    edges: () => edges.stats(),
    listen: (place, listener) => edges.listen(place, listener),
    // A section may contain the secret of another one.
    formatConfig: () => redactor(config.secrets)(config.print()),
  };
}

function idOf({ id }: ConfiguredComponent): string {
  return id;
}
