import { Type } from 'typebox';
import { parseComponentId } from '../../component/component-id.js';
import type { ExporterFactory, NamedPipeline } from '../../component/factory.js';
import { section } from '../../config/schema.js';
import { BalanceExporter } from './balance-exporter.js';

const balanceConfig = section({
  pipelines: Type.Array(
    Type.String({
      pattern: '^(traces|logs)/.+$',
      patternErrorMessage: 'must be a named pipeline for traces or logs, such as traces/gateway-1',
      description: 'Name of a pipeline.',
    }),
    {
      default: [],
      uniqueItems: true,
      description: 'Pipelines to distribute runs over. Those of one name get the same runs.',
    },
  ),
});

export const balanceExporter: ExporterFactory<typeof balanceConfig> = {
  kind: 'exporter',
  type: 'balance',
  description: 'Distributes whole runs over pipelines by trace id, so that each gateway gets complete runs.',
  stability: 'beta',
  signals: ['traces', 'logs'],
  configSchema: balanceConfig,
  delivery: 'direct',
  pipelines: ({ pipelines }) =>
    pipelines.map((name, at): NamedPipeline => ({ name, path: ['pipelines', String(at)] })),
  create: (settings) =>
    new BalanceExporter(
      settings,
      settings.config.pipelines.map((pipeline) => {
        const { type = '', name = '' } = parseComponentId(pipeline) ?? {};
        return { pipeline, signal: type, name };
      }),
    ),
};
