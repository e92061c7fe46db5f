import type { ExtensionFactory } from '../../component/factory.js';
import { endpoint, section } from '../../config/schema.js';
import type { Component } from '../../component/component.js';
import type { DaemonHealth } from '../../component/daemon-health.js';
import type { Host } from '../../component/host.js';
import type { HttpResponse } from '../../component/http.js';

const HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-store' };

/** Answers `/healthz` and `/readyz`, without a key. */
class HealthExtension implements Component {
  readonly #endpoint: string;

  constructor(endpoint: string) {
    this.#endpoint = endpoint;
  }

  async start(host: Host): Promise<void> {
    const listener = host.listener(this.#endpoint);
    listener.route({ method: 'GET', path: '/healthz', isPublic: true, handle: () => live(host.health()) });
    listener.route({ method: 'GET', path: '/readyz', isPublic: true, handle: () => ready(host.health()) });
  }
}

/** A process that can answer is alive: a restart would not help while it is merely busy or stopping. */
function live({ phase }: DaemonHealth): HttpResponse {
  return { status: 200, headers: HEADERS, body: JSON.stringify({ status: 'ok', phase }) };
}

function ready({ isReady, phase, components }: DaemonHealth): HttpResponse {
  const isDegraded = components.some(({ state }) => state === 'degraded');
  const ready = isDegraded ? 'degraded' : 'ready';
  const status = isReady ? ready : 'not_ready';
  return {
    status: isReady ? 200 : 503,
    headers: isReady ? HEADERS : { ...HEADERS, 'retry-after': '1' },
    body: JSON.stringify({ status, phase, components }),
  };
}

const HealthSchema = section({
  endpoint: endpoint({
    default: '127.0.0.1:13133',
    description: 'Address that serves /healthz and /readyz.',
  }),
});

export const healthExtension: ExtensionFactory<typeof HealthSchema> = {
  kind: 'extension',
  type: 'health',
  description: 'Serves liveness and readiness checks for orchestrators and load balancers.',
  stability: 'beta',
  configSchema: HealthSchema,
  resources: (config) => [{ kind: 'http_listener', endpoint: config.endpoint, isOperational: true }],
  create: ({ config }) => new HealthExtension(config.endpoint),
};
