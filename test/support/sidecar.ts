import { pause } from './http-listener.js';
import type { DaemonProcess } from './process.js';

/**
 * YAML of a daemon that stores only users and keys and forwards everything to a gateway.
 *
 * @param more keys of the exporter in YAML flow style
 */
export const sidecarOverlay = (endpoint: string, key: string, more = '') => `exporters:
  otlp_http:
    endpoint: ${endpoint}
    headers: { authorization: "Bearer ${key}" }
    timeout: 10s
    retry: { initial_interval: 100ms, max_interval: 500ms }
    queue: { batch: { max_items: 50, max_wait: 20ms } }
    ${more}
service:
  pipelines:
    traces: { receivers: [trace_batch, otlp], processors: [validation], exporters: [otlp_http] }
    metrics: { receivers: [otlp], processors: [], exporters: [otlp_http] }
    logs: { receivers: [otlp], processors: [], exporters: [otlp_http] }
`;

/** The sum over all series of an exporter metric `jackdaw_exporter_…` of a daemon. */
export async function exporterTotal({ metricsUrl }: DaemonProcess, name: string): Promise<number> {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  const series = text.matchAll(new RegExp(`^jackdaw_exporter_${name}\\{.*\\} (\\d+)$`, 'gm'));
  return [...series].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Waits until a sidecar has delivered everything. */
export async function emptied(sidecar: DaemonProcess): Promise<void> {
  while ((await exporterTotal(sidecar, 'queue_items')) > 0) await pause();
}

/** The response of a daemon's API for a run with an OTLP trace id. */
export async function readRun({ url, key }: DaemonProcess, traceId: string): Promise<Response> {
  const uuid = traceId.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  return fetch(`${url}/api/v1/dashboard/traces/${uuid}`, { headers: { authorization: `Bearer ${key}` } });
}
