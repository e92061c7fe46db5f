import { join } from 'node:path';
import type { Test } from 'tap';
import type { Consumer } from '../../src/component/consumer.js';
import { section } from '../../src/config/schema.js';
import { deliveryKeys } from '../../src/delivery/queue/config.js';
import { QueuedExporter } from '../../src/delivery/queue/queued-exporter.js';
import { RAW_DECODERS } from '../../src/otlp/map/decode-raw.js';
import type { Batch, Signal } from '../../src/signal/batch.js';
import { componentSettings } from './component-settings.js';
import { metricValues } from './engine.js';
import { instrument } from '../../src/pipeline/instrument.js';
import { ScriptedExporter } from './scripted-exporter.js';
import { sectionConfig } from './section-config.js';
import { StatusHost } from './status-host.js';

/** Options of a test. */
export interface DiskDeliveryOptions {
  readonly signal?: Signal;
  /** YAML overlay for a disk queue that sends immediately and in sequence. */
  readonly config?: string;
  /** Id of the exporter. */
  readonly id?: string;
}

/** A queued exporter with a disk queue around a scripted one, with a stopped clock. */
export async function startOnDisk(
  t: Pick<Test, 'teardown'>,
  folder: string,
  { signal = 'logs', config = '', id = 'sink' }: DiskDeliveryOptions = {},
) {
  const scripted = new ScriptedExporter();
  const settings = componentSettings(id);
  const { meter, clock, logger } = settings;
  const keys = section(deliveryKeys());
  const directory = JSON.stringify(join(folder, 'queue'));
  const base = `queue: { type: disk, directory: ${directory}, concurrency: 1 }`;
  const inputs = { [signal]: scripted };
  const exporter = new QueuedExporter(
    { inputs },
    { ...settings, config: sectionConfig(keys, base, config) },
    RAW_DECODERS,
  );
  const input = exporter.inputs[signal] as Consumer<Batch<unknown>>;
  const onFailure = exporter.propagateErrors(signal);
  const way = instrument(input, { signal, logger, observers: [], onFailure });
  const host = new StatusHost();
  await exporter.start(host.host);
  let stopped: Promise<void> | undefined;
  const stop = (isAborted = false): Promise<void> =>
    (stopped ??= exporter.shutdown(isAborted ? AbortSignal.abort() : new AbortController().signal));
  t.teardown(async () => {
    for (const { fail } of scripted.attempts) fail(new Error('the test is over'));
    await stop(true);
  });
  const send = (tenant: string, items: unknown[], batch?: { readonly id: string }) =>
    way.consume({ tenant, items }, { receivedAt: clock.now(), ...(batch && { batch }) });
  /** The value of a metric `jackdaw_exporter_…`. */
  const metric = async (name: string, labels = `,signal="${signal}"`): Promise<number | undefined> => {
    const full = `jackdaw_exporter_${name}`;
    return (await metricValues(meter, `${full}{`))[`${full}{exporter="${id}"${labels}}`];
  };
  const path = join(folder, 'queue', id);
  return { exporter, scripted, clock, logger, host, way, send, metric, stop, path };
}
