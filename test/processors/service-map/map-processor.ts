import type { Test } from 'tap';
import { ConsumeError } from '../../../src/component/consume-error.js';
import type { Receipt } from '../../../src/component/consumer.js';
import { serviceMapConfig } from '../../../src/processors/service-map/config.js';
import { createServiceMap } from '../../../src/processors/service-map/service-map.js';
import type { TracesBatch } from '../../../src/signal/batch.js';
import { mapOf } from '../../../src/signal/derive-map.js';
import type { DerivedMap } from '../../../src/signal/service-map.js';
import type { TraceRecord } from '../../../src/signal/trace.js';
import { componentSettings } from '../../support/component-settings.js';
import { sectionConfig } from '../../support/section-config.js';
import { testHost } from '../../support/test-host.js';

const NEVER = new AbortController().signal;

/** A forwarded batch and its map. */
interface Passed {
  readonly batch: TracesBatch;
  readonly items: readonly TraceRecord[];
  readonly map: DerivedMap | undefined;
}

/**
 * A started processor with a consumer that keeps batches once their map is complete, like a store.
 *
 * @param module for its threads; its own by default
 */
export async function startMap(t: Test, yaml = '{}', module?: URL) {
  const settings = componentSettings('service_map');
  const passed: Passed[] = [];
  const next = {
    async consume(batch: TracesBatch): Promise<Receipt> {
      passed.push({ batch, items: batch.items, map: await mapOf(batch) });
      return { accepted: batch.items.length, refused: [] };
    },
  };
  const config = sectionConfig(serviceMapConfig, yaml);
  const processor = createServiceMap({ ...settings, config }, next, module);
  t.teardown(() => processor.shutdown?.(NEVER));
  await processor.start?.(testHost());
  return {
    ...settings,
    passed,
    /** @returns the receipt or error for the sender */
    send: (items: TraceRecord[]): Promise<Receipt | ConsumeError> =>
      processor.consume({ tenant: 'tenant', items }, { receivedAt: 0 }).catch((error: unknown) => {
        if (error instanceof ConsumeError) return error;
        throw error;
      }),
    stop: (deadline: AbortSignal = NEVER) => processor.shutdown?.(deadline),
    /** The value of a metric series. */
    metric: async (name: string): Promise<number> => {
      const { text } = await settings.meter.print();
      const line = text.split('\n').find((one) => one.startsWith(`jackdaw_service_map_${name}{`));
      return Number(line?.split(' ').at(-1));
    },
  };
}
