import type { DaemonView } from '../component/daemon-view.js';
import type { ConfiguredComponent } from '../config/config.js';
import { readVersion } from '../config/package-version.js';
import type { Clock } from '../component/telemetry.js';
import { redactor } from '../telemetry/redact.js';
import type { Edges } from './edges.js';
import type { Prepared } from './prepare.js';

/** The daemon as the API shows it to administrators. Its start is now. */
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
    // A secret of one part may also occur in another.
    formatConfig: () => redactor(config.secrets)(config.print()),
  };
}

function idOf({ id }: ConfiguredComponent): string {
  return id;
}
