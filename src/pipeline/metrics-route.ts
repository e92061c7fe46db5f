import type { Listener } from '../component/http.js';
import type { PrometheusMeter } from '../telemetry/meter.js';

/** Serves the daemon's own metrics in the text format of Prometheus. */
export function serveMetrics(listener: Listener, meter: PrometheusMeter): void {
  listener.route({
    method: 'GET',
    path: '/metrics',
    isPublic: true,
    async handle() {
      const { contentType, text } = await meter.print();
      return { status: 200, headers: { 'content-type': contentType }, body: text };
    },
  });
}
