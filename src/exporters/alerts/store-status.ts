import type { Host } from '../../component/host.js';

/** Operations that the exporter performs on its store. */
type Part = 'evaluation' | 'notices' | 'lease';

/** Reports the state of the store to the daemon: ok while no part of the exporter fails. */
export function reportStore(host: Host): (part: Part) => (isFailing: boolean) => void {
  const failing = new Set<Part>();
  return (part) => (isFailing) => {
    if (failing.has(part) === isFailing) return;
    if (isFailing) failing.add(part);
    else failing.delete(part);
    host.reportStatus(
      failing.size === 0
        ? { level: 'ok' }
        : {
            // The store itself reports whether it is usable.
            level: 'degraded',
            message: 'Cannot read or write the data of alerts; retrying (see log)',
          },
    );
  };
}
