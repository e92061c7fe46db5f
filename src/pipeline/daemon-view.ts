import type { DaemonView } from '../component/daemon-view.js';
import type { ConfiguredComponent } from '../config/config.js';
import { readVersion } from '../config/package-version.js';
import type { Clock } from '../component/telemetry.js';
import { redactor } from '../telemetry/redact.js';
import type { Edges } from './edges.js';
import type { Placements } from './intake/placements.js';
import type { PlannedPipeline } from './plan.js';
import type { Prepared } from './prepare.js';

/**
 * The administrators' view of the daemon. Call it when the daemon has started.
 *
 * @param prepared returns what runs now
 */
export function daemonView(
  prepared: () => Prepared,
  edges: Edges,
  clock: Clock,
  {
    placements = () => undefined,
    reload,
  }: { readonly placements?: () => Placements | undefined } & Pick<DaemonView, 'reload'> = {},
): DaemonView {
  return {
    version: readVersion(),
    startedAt: clock.now(),
    get pipelines() {
      return prepared().plan.pipelines.map((pipeline) => {
        const { name, signal, receivers, connectors, processors, exporters } = pipeline;
        const inThreads = receivers.filter(({ id }) => isInThreads(placements(), id, pipeline));
        return {
          name,
          signal,
          receivers: [...receivers, ...connectors].map(idOf),
          threadedReceivers: inThreads.map(idOf),
          processors: processors.map(idOf),
          exporters: exporters.map(idOf),
        };
      });
    },
    edges: () => edges.stats(),
    listen: (place, listener) => edges.listen(place, listener),
    formatConfig: () => formatConfig(prepared()),
    reload,
  };
}

/** The effective configuration in YAML, without secrets: a section may contain the secret of another one. */
export function formatConfig({ config }: Prepared): string {
  return redactor(config.secrets)(config.print());
}

/** By names: placements know the components of the last reload that exchanged threads. */
function isInThreads(placements: Placements | undefined, id: string, { name }: PlannedPipeline): boolean {
  const found = placements?.inThreads().find((pipeline) => pipeline.name === name);
  return found?.receivers.some((receiver) => receiver.id === id) === true;
}

function idOf({ id }: ConfiguredComponent): string {
  return id;
}
