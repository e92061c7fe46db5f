import { Type } from 'typebox';
import type { ExporterFactory, Outputs } from '../../src/component/factory.js';
import { SIGNALS, TELEMETRY_SIGNALS, type Batches, type Signal } from '../../src/signal/batch.js';

/** An exporter `capture` that keeps every item. */
export class CaptureExporter {
  readonly items: { readonly [S in Signal]: Batches[S]['items'] } = {
    traces: [],
    metrics: [],
    logs: [],
    events: [],
  };

  /** For `pipelines` of an overlay: the default ones with this exporter next to `storage`. */
  readonly overlay = JSON.stringify({
    exporters: { capture: {} },
    service: {
      pipelines: Object.fromEntries(
        TELEMETRY_SIGNALS.map((signal) => [signal, { exporters: ['storage', 'capture'] }]),
      ),
    },
  });

  get factory(): ExporterFactory {
    const keep = (items: unknown[]) => ({
      consume: async (batch: { readonly items: readonly unknown[] }) => {
        items.push(...structuredClone(batch.items));
        return { accepted: batch.items.length, refused: [] };
      },
    });
    const inputs: Outputs = {
      traces: keep(this.items.traces),
      metrics: keep(this.items.metrics),
      logs: keep(this.items.logs),
      events: keep(this.items.events),
    };
    return {
      kind: 'exporter',
      type: 'capture',
      description: 'Keeps what it is given.',
      stability: 'development',
      signals: SIGNALS,
      delivery: 'direct',
      configSchema: Type.Object({}),
      create: () => ({ inputs }),
    };
  }
}
