import { join } from 'node:path';
import t from 'tap';
import { pause } from '../../support/http-listener.js';
import { freePort } from '../../support/free-port.js';
import { OtlpLoad } from '../../support/otlp-load.js';
import { spawnDaemon, type DaemonProcess } from '../../support/process.js';

const sidecarOverlay = (endpoint: string, key: string, compression: string) => `exporters:
  otlp_http:
    protocol: grpc
    endpoint: http://${endpoint}
    compression: ${compression}
    headers: { authorization: "Bearer ${key}" }
    retry: { initial_interval: 100ms, max_interval: 500ms }
    queue: { batch: { max_items: 50, max_wait: 20ms } }
service:
  pipelines:
    traces: { receivers: [trace_batch, otlp], processors: [validation], exporters: [otlp_http] }
    metrics: { receivers: [otlp], processors: [], exporters: [otlp_http] }
    logs: { receivers: [otlp], processors: [], exporters: [otlp_http] }
`;

/** The sum over all series of a metric of a daemon. */
async function total({ metricsUrl }: DaemonProcess, name: string): Promise<number> {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  const series = text.matchAll(new RegExp(`^jackdaw_${name}\\{.*\\} (\\d+)$`, 'gm'));
  return [...series].reduce((sum, [, count]) => sum + Number(count), 0);
}

for (const compression of ['gzip', 'none'])
  void t.test(
    `everything arrives over gRPC, also after a restart: ${compression}`,
    { timeout: 120_000 },
    async (t) => {
      const folder = t.testdir({ gateway: {}, sidecar: {} });
      const endpoint = `127.0.0.1:${await freePort()}`;
      const overlay = `receivers: { otlp: { protocols: { grpc: { endpoint: "${endpoint}" } } } }\n`;
      const first = await spawnDaemon(t, { directory: join(folder, 'gateway'), overlay });
      const { directory, key } = first;
      const sidecar = await spawnDaemon(t, {
        directory: join(folder, 'sidecar'),
        overlay: sidecarOverlay(endpoint, key, compression),
      });
      const load = new OtlpLoad(sidecar.otlpUrl, sidecar.key);
      await load.more(60);
      await first.stop('SIGKILL');
      await load.more(60);
      const second = await spawnDaemon(t, { directory, key, overlay });
      await load.more(60);
      await load.stop();
      while ((await total(sidecar, 'exporter_queue_items')) > 0) await pause();
      t.equal(await total(sidecar, 'exporter_dropped_items_total'), 0, 'nothing dropped');
      t.ok((await total(sidecar, 'exporter_retries_total')) > 0, 'the gateway was unavailable');
      const { traces } = load.acknowledged;
      t.ok(traces.size > 5);
      for (const [traceId] of traces) {
        const uuid = traceId.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
        const response = await fetch(`${second.url}/api/v1/dashboard/traces/${uuid}`, {
          headers: { authorization: `Bearer ${key}` },
        });
        t.equal(response.status, 200);
        await response.body?.cancel();
      }
    },
  );
