import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Test } from 'tap';
import { spawnDaemon, type DaemonProcess } from '../support/process.js';
import { projectFolder } from '../support/project-file.js';

/** `plugins/sidecar` with its shipped files. */
export const SIDECAR = join(projectFolder(), 'plugins/sidecar');

interface SidecarOptions {
  /** An empty folder, or that of a stopped sidecar. */
  readonly directory: string;
  readonly gatewayUrl: string;
  /** Of the gateway. */
  readonly key: string;
  /** Prefix of the command. */
  readonly through?: readonly string[];
}

/** Starts `sidecar.yaml` on free ports. */
export async function startSidecar(
  t: Test,
  { directory, gatewayUrl, key, through = [] }: SidecarOptions,
): Promise<DaemonProcess> {
  return await spawnDaemon(t, {
    directory,
    through,
    files: [join(SIDECAR, 'sidecar.yaml')],
    overlay: `receivers:
  trace_batch: { endpoint: 127.0.0.1:0 }
  otlp: { api_endpoint: null, protocols: { http: { endpoint: 127.0.0.1:000 }, grpc: { endpoint: null } } }
extensions: { health: { endpoint: localhost:0 } }
exporters: { otlp_http: { retry: { initial_interval: 50ms, max_interval: 200ms } } }
service: { telemetry: { logs: { format: json }, metrics: { endpoint: 127.0.0.1:00 } } }
`,
    env: { GATEWAY_URL: gatewayUrl, GATEWAY_KEY: key, SIDECAR_QUEUE: join(directory, 'queue') },
  });
}

/** Waits until a sidecar has delivered everything. @returns its metrics then */
export async function emptied(sidecar: DaemonProcess): Promise<string> {
  for (;;) {
    const text = await (await fetch(`${sidecar.metricsUrl}/metrics`)).text();
    const waiting = [...text.matchAll(/^jackdaw_exporter_queue_items\{.*\} (\d+)$/gm)];
    if (waiting.length === 3 && waiting.every(([, count]) => count === '0')) return text;
    // A dead gateway may take half a minute to recover.
    await wait(50);
  }
}
