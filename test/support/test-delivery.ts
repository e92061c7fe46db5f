import { section } from '../../src/config/schema.js';
import { deliveryKeys, deliveryOptions } from '../../src/delivery/queue/config.js';
import { Delivery } from '../../src/delivery/queue/delivery.js';
import { componentSettings } from './component-settings.js';
import { metricValues } from './engine.js';
import { ScriptedExporter } from './scripted-exporter.js';
import { sectionConfig } from './section-config.js';

/**
 * A delivery chain around a scripted exporter, with a stopped clock.
 *
 * @param config the keys of `deliveryKeys()` as YAML
 * @param random source of the jitter; 0.5 is none
 * @param exporter the scripted one
 */
export function startDelivery(config: string, random = 0.5, exporter = new ScriptedExporter()) {
  const { id, logger, meter, clock } = componentSettings('sink');
  const options = deliveryOptions(sectionConfig(section(deliveryKeys()), config));
  const stalls: (string | null)[] = [];
  const tools = {
    exporter: id,
    signal: 'logs',
    options,
    logger,
    meter,
    clock,
    random: () => random,
    onStall: (reason: string | null) => {
      stalls.push(reason);
    },
  } as const;
  const delivery = new Delivery(exporter, tools);
  const send = (tenant: string, ...items: unknown[]) =>
    delivery.consume({ tenant, items }, { receivedAt: clock.now() });
  /** The value of a metric `jackdaw_exporter_…`. */
  const metric = async (name: string, labels = ''): Promise<number | undefined> => {
    const full = `jackdaw_exporter_${name}`;
    const values = await metricValues(meter, `${full}{`);
    return values[`${full}{exporter="sink",signal="logs"${labels}}`];
  };
  const dropped = (reason: string) => metric('dropped_items_total', `,reason="${reason}"`);
  return { exporter, delivery, clock, logger, send, metric, dropped, stalls };
}
