import { Type, type Static } from 'typebox';
import { section } from '../../config/schema.js';

const limit = (value: number, description: string, maximum = Number.MAX_SAFE_INTEGER) =>
  Type.Integer({ minimum: 1, maximum, default: value, description });

export const validationConfig = section({
  max_name_length: limit(
    1024,
    'Maximum characters in names of agents, spans and metrics, in models, SDK versions, units and labels.',
  ),
  max_text_length: limit(
    65_536,
    'Maximum characters in outcomes, error messages, metric descriptions and label values.',
  ),
  max_payload_depth: limit(
    64,
    'Maximum nesting depth of payloads, metadata, log bodies and attributes.',
    500,
  ),
  max_spans_per_trace: limit(10_000, 'Maximum number of spans of one trace within one batch.'),
  max_log_body_length: limit(1_048_576, 'Maximum characters in the body of a log record, if it is a string.'),
  max_labels: limit(128, 'Maximum number of labels of a metric point.'),
  max_buckets: limit(4096, 'Maximum number of buckets, quantiles or exemplars of a metric point.'),
});

export type ValidationConfig = Static<typeof validationConfig>;
