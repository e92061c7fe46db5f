import type { ConsumeContext, Consumer, Receipt, Refusal } from '../../component/consumer.js';
import {
  notConnected,
  type Exporter,
  type Outputs,
  type PassOn,
  type Settings,
} from '../../component/factory.js';
import type { Counter } from '../../component/telemetry.js';
import { Conditions } from '../../expressions/conditions.js';
import { EvaluationFailures } from '../../expressions/failures.js';
import type { Sender } from '../../expressions/scope/identity-fields.js';
import {
  identityView,
  logScope,
  pointScope,
  traceScope,
  traceView,
  type Scope,
} from '../../expressions/scope/scopes.js';
import type { View } from '../../expressions/scope/view.js';
import type { Batch, Batches, TelemetrySignal } from '../../signal/batch.js';
import type { LogRecord } from '../../signal/log-record.js';
import type { MetricPoint } from '../../signal/metric.js';
import type { TraceRecord } from '../../signal/trace.js';
import { SparseLog } from '../../telemetry/sparse-log.js';
import { ofSignal, SCOPE_OF, type RouteConfig } from './config.js';

type ScopeOf<Item> = (item: Item, identity: View<Sender>) => Scope;

/** Exporter `route`, a connector: see README.md. */
export class RouteExporter implements Exporter {
  readonly inputs: Outputs;
  readonly #settings: Settings<RouteConfig>;
  readonly #passOn: PassOn;
  readonly #failures: EvaluationFailures;
  readonly #unmatched: Counter;
  readonly #log: SparseLog;

  constructor({ passOn = notConnected, ...settings }: Settings<RouteConfig> & { readonly passOn?: PassOn }) {
    this.#settings = settings;
    this.#passOn = passOn;
    this.#failures = new EvaluationFailures(settings, 'exporter');
    this.#log = new SparseLog(settings.logger, settings.clock);
    this.#unmatched = settings.meter.counter('route_unmatched_items_total', {
      description: 'Items accepted and dropped because no route matches and there are no default pipelines.',
      labelNames: ['exporter', 'signal'],
    });
    this.inputs = {
      traces: this.#input<TraceRecord, 'traces'>('traces', (item, by) => traceScope(traceView(item), by)),
      metrics: this.#input<MetricPoint, 'metrics'>('metrics', pointScope),
      logs: this.#input<LogRecord, 'logs'>('logs', logScope),
    };
  }

  #input<Item, S extends TelemetrySignal>(signal: S, scopeOf: ScopeOf<Item>): Consumer<Batches[S]> {
    const { id, config } = this.#settings;
    const routes = config.routes.flatMap(({ condition, pipelines }, at) => {
      const own = ofSignal(pipelines, signal);
      if (own.length === 0) return [];
      const options = { onError: config.on_error, failures: this.#failures };
      return {
        pipelines: own,
        conditions: new Conditions(`routes[${at}]`, [condition], SCOPE_OF[signal], options),
      };
    });
    const others = ofSignal(config.default_pipelines, signal);
    const targets = [...routes.map(({ pipelines }) => pipelines), others];
    this.#unmatched.add(0, { exporter: id, signal });
    return {
      consume: async (batch: Batches[S], context: ConsumeContext): Promise<Receipt> => {
        const identity = identityView(batch, context);
        const positions = targets.map((): number[] => []);
        const refused: Refusal[] = [];
        (batch as Batch<unknown> as Batch<Item>).items.forEach((item, index) => {
          const scope = scopeOf(item, identity);
          for (const [at, { conditions }] of routes.entries()) {
            const verdict = conditions.judge(scope);
            if (verdict === 'false') continue;
            if (verdict === 'true') positions[at]?.push(index);
            else if (verdict === 'refuse') refused.push(refusalOf(index, signal, item));
            return;
          }
          positions[routes.length]?.push(index);
        });
        const unmatched = others.length === 0 ? (positions.pop()?.length ?? 0) : 0;
        const parts = positions.flatMap((own, at) =>
          own.length === 0 ? [] : { pipelines: targets[at] ?? [], positions: own },
        );
        const answer = this.#passOn(signal, batch, { parts, refused }, context);
        return answer.then((receipt) => {
          this.#noteUnmatched(unmatched, signal);
          return receipt;
        });
      },
    };
  }

  #noteUnmatched(items: number, signal: TelemetrySignal): void {
    if (items === 0) return;
    this.#unmatched.add(items, { exporter: this.#settings.id, signal });
    this.#log.warn(
      items,
      { signal },
      'Dropped items that no route matches; set default_pipelines to keep them',
    );
  }
}

function refusalOf(index: number, signal: TelemetrySignal, item: unknown): Refusal {
  const reason = 'a condition of the route cannot be evaluated';
  return signal === 'traces'
    ? { index, id: (item as TraceRecord).trace.trace_id, reason }
    : { index, reason };
}
