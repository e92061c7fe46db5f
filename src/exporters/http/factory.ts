import type { ExporterFactory, Settings } from '../../component/factory.js';
import { readPem } from '../../config/client-tls.js';
import { AddressPolicy } from '../../delivery/senders/webhook/address-policy.js';
import { attemptTimes } from '../../delivery/senders/webhook/attempt-times.js';
import { WebhookSender } from '../../delivery/senders/webhook/sender.js';
import { resourcesOfTargets } from '../../delivery/senders/webhook/targets.js';
import { readTrusted } from '../../delivery/senders/webhook/trusted.js';
import { checkHttp, httpConfig, ITEMS, type HttpConfig } from './config.js';
import { HttpExporter, type OpenTransport } from './http-exporter.js';

/** The exporter `http`. @param open opens the transport; `jackdaw test` passes one without a network */
export function httpExporterWith(open: OpenTransport): ExporterFactory<typeof httpConfig> {
  return {
    kind: 'exporter',
    type: 'http',
    description: 'Sends events, traces, spans or log records as JSON to any URL, using a template.',
    stability: 'beta',
    signals: [...new Set(Object.values(ITEMS))],
    configSchema: httpConfig,
    delivery: 'queued',
    // One item per batch, so that each is retried separately.
    deliveryConfig: (config) =>
      config.format === 'json'
        ? { ...config, queue: { ...config.queue, batch: { ...config.queue.batch, max_items: 1 } } }
        : config,
    check: checkHttp,
    resources: ({ targets, tls }) => [
      ...resourcesOfTargets(targets),
      ...[tls?.cert_file, tls?.key_file]
        .filter((path) => path !== undefined)
        .map((path) => ({ kind: 'readable_file' as const, path })),
    ],
    create: (settings) => new HttpExporter(settings, open),
  };
}

export const httpExporter = httpExporterWith(openSender);

/** The default transport: never sends to networks that `targets` does not allow. @throws Error if a file cannot be read */
export async function openSender({ config, clock }: Settings<HttpConfig>): Promise<WebhookSender> {
  const { targets, tls } = config;
  const [trusted, cert, key] = await Promise.all([
    readTrusted(targets.ca_file),
    readPem('tls.cert_file', tls?.cert_file),
    readPem('tls.key_file', tls?.key_file),
  ]);
  return new WebhookSender({
    policy: new AddressPolicy(targets.allow_cidrs),
    trusted,
    ...attemptTimes(config),
    clock,
    transport: {
      allowsPlain: true,
      cert: cert?.toString(),
      key: key?.toString(),
      serverName: tls?.server_name_override,
      skipsVerification: tls?.insecure_skip_verify,
    },
  });
}
