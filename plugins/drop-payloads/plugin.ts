import { Type, section, type Plugin, type ProcessorFactory, type SpanRecord } from 'jackdaw';

const configSchema = section({
  fields: Type.Array(Type.Enum(['input_data', 'output_data', 'metadata']), {
    default: ['input_data', 'output_data'],
    description: 'Fields to remove from spans.',
  }),
  span_types: Type.Array(Type.Enum(['agent', 'llm', 'tool', 'http', 'db', 'custom']), {
    default: [],
    description: 'Span types to remove the fields from. Empty: all types.',
  }),
  keep_failed: Type.Boolean({
    default: false,
    description: 'Whether failed spans keep their fields, for debugging.',
  }),
});

/** Removes prompts, completions and similar data from spans before anything stores them. */
const dropPayloads: ProcessorFactory<typeof configSchema> = {
  kind: 'processor',
  type: 'drop_payloads',
  description: 'Removes payloads (prompts, completions, request bodies) from spans.',
  stability: 'beta',
  mutatesBatch: true,
  placement: () => 'any',
  configSchema,
  create: {
    traces({ config, next, meter, id }) {
      const types = new Set<string>(config.span_types);
      const dropped = meter.counter('drop_payloads_fields_total', {
        description: 'Payloads removed from spans.',
        labelNames: ['processor'],
      });
      const isSelected = (span: SpanRecord) =>
        (types.size === 0 || types.has(span.type)) && !(config.keep_failed && span.status === 'failed');
      const strip = (span: SpanRecord): number => {
        const present = config.fields.filter((field) => span[field] !== null);
        for (const field of present) span[field] = null;
        return present.length;
      };
      return {
        async consume(batch, context) {
          const spans = batch.items.flatMap((item) => item.spans).filter(isSelected);
          const count = spans.reduce((sum, span) => sum + strip(span), 0);
          dropped.add(count, { processor: id });
          return next.consume(batch, context);
        },
      };
    },
  },
};

const plugin: Plugin = { name: 'drop-payloads', apiVersion: 1, factories: [dropPayloads] };
export default plugin;
