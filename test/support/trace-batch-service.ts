import type { Test } from 'tap';
import type { Consumer } from '../../src/component/consumer.js';
import { traceBatchReceiver } from '../../src/receivers/trace-batch/factory.js';
import type { TraceBatchConfig } from '../../src/receivers/trace-batch/config.js';
import type { TracesBatch } from '../../src/signal/batch.js';
import type { PrometheusMeter } from '../../src/telemetry/meter.js';
import { componentSettings } from './component-settings.js';
import { post, type Answer, type Sent } from './http-post.js';
import { KEY } from './known-keys.js';
import { startReceiver } from './receiver-service.js';

export interface TraceBatchService {
  /** Sends a JSON request with the valid key; given headers override the defaults. */
  send(sent: Sent): Promise<Answer>;
  /** Stops only the receiver; the listener stays open. */
  shutdown(deadline: AbortSignal): Promise<void>;
  readonly meter: PrometheusMeter;
}

/** The receiver on a real listener in front of a test consumer. Ends with the test. */
export async function startTraceBatchService(
  t: Test,
  next: Consumer<TracesBatch>,
  changes: Partial<TraceBatchConfig> = {},
): Promise<TraceBatchService> {
  const settings = componentSettings('trace_batch');
  const receiver = traceBatchReceiver.create({
    ...settings,
    config: {
      endpoint: '127.0.0.1:0',
      max_request_body_size: '16MiB',
      request_timeout: '30s',
      max_in_flight: { requests: 1024, bytes: '128MiB' },
      ...changes,
    },
    outputs: { traces: next },
  });
  const { url, shutdown } = await startReceiver(t, receiver, settings);
  return {
    send: ({ headers, ...rest }) =>
      post(`${url}/api/v1/traces/batch`, {
        ...rest,
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers },
      }),
    shutdown,
    meter: settings.meter,
  };
}
